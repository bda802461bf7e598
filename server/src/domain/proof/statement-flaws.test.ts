import assert from "node:assert/strict";
import { test } from "node:test";
import { decisionStatement, type Statement } from "../shown/decision-statement.ts";
import { checkpointIn, differenceIn, sayFlaw } from "./statement-flaws.ts";

const expected: Statement = {
  request: "req_1",
  workspace: "ws_1",
  verdict: "approve",
  revision: 1,
  payload: "p",
  effective: "e",
  shown: "s",
  audience: ["payments"],
  expires: "2026-01-01T00:00:00.000Z",
  checkpoint: null,
};

test("the first part that differs is named", () => {
  const others: Partial<Statement> = {
    request: "req_2",
    workspace: "ws_2",
    verdict: "reject",
    revision: 2,
    payload: "q",
    effective: "f",
    shown: "t",
    audience: ["payments", "x"],
    expires: "never",
    checkpoint: "c",
  };
  for (const [name, other] of Object.entries(others)) {
    assert.equal(differenceIn(decisionStatement({ ...expected, [name]: other }), expected), name);
  }
  assert.equal(differenceIn(decisionStatement(expected), expected), null);
});

test("the same values in another spelling are another text", () => {
  const text = decisionStatement(expected);
  const parts = JSON.parse(text);
  const spellings = [
    ` ${text}`,
    `${text}\n`,
    JSON.stringify(parts, null, 1),
    JSON.stringify(Object.fromEntries(Object.entries(parts).toReversed())),
    JSON.stringify({ ...parts, more: 1 }),
    text.replace('"verdict":"approve"', '"verdict":"reject","verdict":"approve"'),
    text.replace('"approve"', '"\\u0061pprove"'),
    text.replace('"revision":1', '"revision":1.0'),
  ];
  for (const spelling of spellings) {
    assert.notEqual(spelling, text);
    assert.equal(differenceIn(spelling, expected), "spelling", spelling);
  }
  for (const text of ["", "null", "7", "[]", "{", "{}"]) {
    assert.notEqual(differenceIn(text, expected), null, text);
  }
});

test("a checkpoint is text or none", () => {
  assert.equal(checkpointIn('{"checkpoint":"a"}'), "a");
  assert.equal(checkpointIn('{"checkpoint":null}'), null);
  for (const text of ["{}", '{"checkpoint":7}', '{"checkpoint":"a\\u0000"}', "null", "x"]) {
    assert.equal(checkpointIn(text), undefined, text);
  }
});

test("each reason says that nothing was decided, and what to do", () => {
  assert.equal(
    sayFlaw("verdict"),
    "The signature is for the other verdict. Nothing was decided. Load the page again, and sign once more.",
  );
});
