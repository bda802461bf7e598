import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodedHost } from "./punycode.ts";

test("the name that a browser gives a host on the wire is read as the same letters again", () => {
  const label = fc.stringMatching(/^[a-zа-яα-ωא-ת一-十üéø]{1,20}$/u);
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), (labels) => {
      const host = labels.join(".");
      fc.pre(URL.canParse(`http://${host}`));
      const { hostname } = new URL(`http://${host}`);
      assert.equal(decodedHost(hostname), host);
    }),
    { numRuns: 500 },
  );
});

test("a malformed name is no host", () => {
  for (const host of ["xn--!", "xn--a\u00e9", "xn--999999999"])
    assert.equal(decodedHost(host), null);
  assert.equal(decodedHost("example.com"), "example.com");
});
