import assert from "node:assert/strict";
import { test } from "node:test";
import { isDecisionInstalled, readLogPlace, readReceipt } from "./readable-proof.ts";

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a receipt tells its key, level and end, and one that can't be read tells nothing", () => {
  const claims = {
    level: "operator-signed",
    exp: 1_800_000_000,
    by: [{ email: "zoë@example.com" }],
  };
  assert.deepEqual(readReceipt(`${encoded({ kid: "k1" })}.${encoded(claims)}.sig`), {
    kid: "k1",
    level: "operator-signed",
    validUntil: "2027-01-15T08:00:00.000Z",
  });
  for (const broken of ["", "a.b.c", `${encoded({ kid: "k1" })}..`]) {
    assert.equal(readReceipt(broken), null, broken);
  }
});

test("a checkpoint with the request's beginning alone doesn't count as the decision's place", () => {
  const place = { origin: "example.com/log/ws_1", checkpoint: "", entries: [] };
  const installation = { entry: "", fact: "", salt: "", proof: "" };
  assert.equal(isDecisionInstalled(undefined), false);
  assert.equal(isDecisionInstalled(null), false);
  assert.equal(isDecisionInstalled({ ...place, proof: null, installation }), false);
  assert.equal(isDecisionInstalled({ ...place, proof: "proof", installation: null }), false);
  assert.equal(isDecisionInstalled({ ...place, proof: "proof", installation }), true);
});

test("the log's own signature is not counted as a witness", () => {
  const place = readLogPlace({
    origin: "example.com/log/ws_1",
    checkpoint: "example.com/log/ws_1\n7\nroot\n\n\u2014 example.com/log/ws_1 sig\n",
    entries: [],
    proof: "c2sp.org/tlog-proof@v1\nextra e30=\nindex 4\nhash\n\nexample.com/log/ws_1\n7\nroot\n",
    installation: {
      ...{ fact: "", salt: "" },
      entry: '{"v":1,"kind":"checkpoint","at":"2026-11-18T12:00:00.000Z"}',
      proof:
        "c2sp.org/tlog-proof@v1\nindex 2\n\nexample.com/log\n3\nroot\n\n\u2014 example.com/log sig\n\u2014 witness.example/w1 sig\n",
    },
  });
  assert.deepEqual(place, {
    index: 4,
    size: "7",
    installedAt: "2026-11-18T12:00:00.000Z",
    witnesses: ["witness.example/w1"],
  });
});
