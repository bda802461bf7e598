import assert from "node:assert/strict";
import { test } from "node:test";
import { figureApproversMax } from "../limits.ts";
import { addStages, countStages, noStageFigures, stageShares } from "./stage-figures.ts";

const stages = (name: string, count: number, isGroup = false) => ({
  ...{ isGroup, name, bucket: 9, count },
});

test("days add up by approver, and a group is not an address of the same name", () => {
  const one = countStages([stages("ops", 2, true), stages("cfo@x.example", 1)], 1);
  const other = countStages([stages("ops", 3, true), stages("ops", 1)], 0);
  const shares = stageShares([one, other], 10);
  assert.equal(shares?.escalated, 1);
  assert.deepEqual(
    shares?.perApprover.map((each) => [each.name, each.isGroup, each.stages, each.medianMs]),
    [
      ["ops", true, 5, 10],
      ["cfo@x.example", false, 1, 10],
      ["ops", false, 1, 10],
    ],
  );
  assert.equal(stageShares([one, other], 1)?.perApprover.length, 1);
});

test("nothing is told where there was no stage", () => {
  assert.equal(stageShares([noStageFigures], 10), null);
});

test("names that are new each time cost no more than so many approvers", () => {
  const names = Array.from({ length: figureApproversMax + 50 }, (_, at) => stages(`p${at}`, 1));
  const many = countStages([...names, stages("often", 9)], 0);
  assert.equal(many.approvers.size, figureApproversMax);
  const sum = addStages(many, countStages([stages("new", 20)], 0));
  assert.equal(sum.approvers.size, figureApproversMax);
  assert.ok(sum.approvers.has("address often") && sum.approvers.has("address new"));
});
