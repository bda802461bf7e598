import assert from "node:assert/strict";
import { test } from "node:test";
import type { Shares } from "../../../../server/src/wire/dashboard-contract.ts";
import { approvedShare, outcomesOf, partsOf } from "./outcomes.ts";
import { seriesOf } from "./series.ts";

const shares: Shares = {
  asked: 110,
  pending: 10,
  approved: 86,
  edited: 12,
  rejected: 8,
  expired: 5,
  cancelled: 1,
  medianMs: null,
  p90Ms: null,
};

test("the shares are of what ended, and edited requests are among the approved", () => {
  const { ended, outcomes } = outcomesOf(shares);
  assert.equal(ended, 100);
  assert.deepEqual(
    outcomes.map(({ status, share }) => `${status} ${share}`),
    ["APPROVED 86%", "REJECTED 8%", "EXPIRED 5%", "CANCELLED 1%"],
  );
  assert.equal(outcomes[0]?.note, "86 requests, 12 of them edited");
  assert.equal(outcomes[3]?.note, "1 request");
});

test("the parts of a picture add up to what was asked", () => {
  const sum = partsOf(shares).reduce((total, { value }) => total + value, 0);
  assert.equal(sum, shares.asked);
});

test("an outcome looks alone as it looks among the others", () => {
  const among = seriesOf([{ label: "", parts: partsOf(shares) }]);
  for (const { parts } of outcomesOf(shares).outcomes) {
    for (const { name, look } of seriesOf([{ label: "", parts }])) {
      assert.deepEqual(look, among.find((each) => each.name === name)?.look, name);
    }
  }
});

test("nothing decided is no share of anything", () => {
  assert.equal(
    approvedShare({ ...shares, approved: 0, rejected: 0, expired: 0, cancelled: 0 }),
    null,
  );
  assert.equal(approvedShare(shares), "86%");
});
