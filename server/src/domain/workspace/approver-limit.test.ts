import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ApproverRule,
  flawOfApproverDomains,
  isApproverAllowed,
  normaliseApproverDomains,
} from "./approver-limit.ts";

test("without a limit everybody may be asked", () => {
  const rule: ApproverRule = { limit: "anybody", domains: ["example.com"] };
  assert.equal(isApproverAllowed(rule, "eve@evil.example", false), true);
});

test("with the limit to members only colleagues may be asked, whatever their domain", () => {
  const rule: ApproverRule = { limit: "members", domains: ["example.com"] };
  assert.equal(isApproverAllowed(rule, "ann@elsewhere.example", true), true);
  assert.equal(isApproverAllowed(rule, "eve@example.com", false), false);
});

test("with the limit to domains only their addresses may be asked, colleagues included", () => {
  const rule: ApproverRule = { limit: "domains", domains: ["example.com", "example.org"] };
  for (const email of ["ann@example.com", "Ann@EXAMPLE.org", "ann+tag@example.com"]) {
    assert.equal(isApproverAllowed(rule, email, false), true, email);
  }
  for (const email of [
    "eve@sub.example.com",
    "eve@notexample.com",
    "eve@example.com.evil.example",
    "example.com@evil.example",
    "eve@com",
    "eve@example.co",
  ]) {
    assert.equal(isApproverAllowed(rule, email, true), false, email);
  }
});

test("with no domain listed nobody may be asked", () => {
  assert.equal(
    isApproverAllowed({ limit: "domains", domains: [] }, "ann@example.com", true),
    false,
  );
});

test("domains are kept in lower case, each once and in order", () => {
  assert.deepEqual(normaliseApproverDomains([" Example.ORG", "example.com", "EXAMPLE.com "]), [
    "example.com",
    "example.org",
  ]);
});

test("only plain domain names can be listed", () => {
  assert.equal(flawOfApproverDomains(["example.com", "xn--bcher-kva.example", "localhost"]), null);
  for (const domain of [
    "",
    "com",
    "*.example.com",
    "@example.com",
    "ann@example.com",
    "example.com.",
    ".example.com",
    "exa mple.com",
    "example.com/path",
    "https://example.com",
    "bücher.example",
    "-a.example",
  ]) {
    assert.match(
      flawOfApproverDomains(["example.org", domain]) ?? "",
      /plain domain names/,
      domain,
    );
  }
});

test("at most 50 domains can be listed", () => {
  const domains = Array.from({ length: 51 }, (_, n) => `d${n}.example`);
  assert.equal(flawOfApproverDomains(domains.slice(1)), null);
  assert.match(flawOfApproverDomains(domains) ?? "", /at most 50/);
});
