import assert from "node:assert/strict";
import { test } from "node:test";
import { pathOf, type Route, routeOf } from "./route.ts";

test("each place has an address that leads back to it", () => {
  const places: Route[] = [
    { kind: "list", list: "waiting" },
    { kind: "list", list: "past" },
    { kind: "settings" },
    { kind: "request", requestId: "req_1", list: "waiting", id: null },
    { kind: "request", requestId: "ü/?#", list: "waiting", id: null },
  ];
  for (const place of places) assert.deepEqual(routeOf(pathOf(place)), place);
});

test("the history keeps the list beside a request and the person's place in it", () => {
  const place: Route = { kind: "request", requestId: "req_1", list: "past", id: "rev_1" };
  assert.deepEqual(routeOf("/requests/req_1", { list: "past", id: "rev_1" }), place);
  assert.deepEqual(routeOf("/requests/req_1", { list: 1, id: {} }), {
    ...place,
    list: "waiting",
    id: null,
  });
});

test("an address that leads nowhere shows what waits", () => {
  for (const path of ["/nowhere", "/requests", "/requests/a/b", "/past/x", "/%ff"]) {
    assert.deepEqual(routeOf(path), { kind: "list", list: "waiting" }, path);
  }
  assert.equal(routeOf("/requests/%ff").kind, "request");
});
