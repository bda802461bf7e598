// Tests of where a sign-in leads: an address that was made up by somebody else leads home.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nextPage } from "./next-page.ts";

const place = { origin: "https://approvals.example", basePath: "/countersign" };

test("after signing in one is back where one was, with filters and tabs", () => {
  const page = "/countersign/app/w/ws_1/requests?status=PENDING#top";
  assert.equal(nextPage(page, place), page);
});

test("an address that is not a page of the dashboard leads to its beginning", () => {
  const strangers = [
    "https://evil.example/countersign/app/w/ws_1",
    "//evil.example/countersign/app/w/ws_1",
    "/\\evil.example/countersign/app/w/ws_1",
    "javascript:alert(1)",
    "/review/rv_1",
    "/countersign/app/../review/rv_1",
    "/countersign/application",
    "/app/w/ws_1",
    "",
    "//",
    undefined,
  ];
  for (const stranger of strangers) {
    assert.equal(nextPage(stranger, place), "/countersign/app", stranger);
  }
});

test("the inbox is a page of ours as well, with the request that somebody wanted to see", () => {
  for (const page of ["/countersign/inbox", "/countersign/inbox/requests/req_1?a=b#c"]) {
    assert.equal(nextPage(page, place), page);
  }
  const strangers = ["/inbox", "/countersign/inboxes", "//evil.example/countersign/inbox"];
  for (const stranger of [
    ...strangers,
    "/countersign/inbox/../review/rv_1",
    "/countersign/inbox/api/list",
  ]) {
    assert.equal(nextPage(stranger, place), "/countersign/app", stranger);
  }
});

test("signing in does not lead to signing in", () => {
  assert.equal(nextPage("/countersign/app/sign-in?next=x", place), "/countersign/app");
});
