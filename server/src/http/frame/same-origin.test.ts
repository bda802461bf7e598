import assert from "node:assert/strict";
import { test } from "node:test";
import { repeated } from "./call.ts";
import { isSameOrigin, originOf, type Provenance } from "./same-origin.ts";

const publicUrl = "https://x.example/approvals";
const good = { origin: "https://x.example", site: "same-origin" };

test("a page of our own passes, whatever the path of PUBLIC_URL", () => {
  assert.equal(isSameOrigin(good, publicUrl), true);
  assert.equal(isSameOrigin(good, "https://X.example:443"), true);
  const local = { ...good, origin: "http://localhost:3000" };
  assert.equal(isSameOrigin(local, "http://localhost:3000"), true);
  assert.equal(originOf("http://localhost:80/a"), "http://localhost");
});

test("without either proof, or with another one, nothing passes", () => {
  const origins: Provenance["origin"][] = [
    null,
    repeated,
    "",
    "null",
    "http://x.example",
    "https://x.example/",
  ];
  const more = ["https://x.example:8443", "https://y.example", "https://x.example.y.example"];
  for (const origin of [...origins, ...more, "https://x.example, https://x.example"]) {
    assert.equal(isSameOrigin({ ...good, origin }, publicUrl), false, String(origin));
  }
  const sites: Provenance["site"][] = [null, repeated, "", "none", "same-site", "cross-site"];
  for (const site of [...sites, "Same-Origin"]) {
    assert.equal(isSameOrigin({ ...good, site }, publicUrl), false, String(site));
  }
});
