import assert from "node:assert/strict";
import { test } from "node:test";
import { describeFinding, findingsOf } from "./findings.ts";

const ordinary = {
  summary: "Refund order 4821, naïve 日本Corp שלום 👩‍👩‍👧",
  agentName: "payer",
  reasoning: "Because.\n\nOf that.",
  recentActions: ["Looked it up"],
  payload: '{"a":"b","n":9007199254740993}',
};

test("ordinary words in any language raise no flag", () => {
  assert.deepEqual(findingsOf(ordinary), []);
});

test("hidden characters are found in every field, in keys and deep inside, with their place", () => {
  const hidden = "x\u202ey";
  const found = findingsOf({
    summary: hidden,
    agentName: hidden,
    reasoning: hidden,
    recentActions: ["fine", hidden],
    payload: JSON.stringify({ list: [{ ok: hidden }], [hidden]: 1 }),
  });
  assert.deepEqual(found.map(describeFinding), [
    "1 hidden character in the summary",
    "1 hidden character in the agent’s name",
    "1 hidden character in the reasoning",
    "1 hidden character in recent action 2",
    "1 hidden character in list[0].ok",
    '1 hidden character in the name of ["x[U+202E RLO]y"]',
  ]);
});

test("letters that look like others and foreign hosts are found", () => {
  const found = findingsOf({
    ...ordinary,
    reasoning: "see p\u0430ypal",
    payload: '{"url":"https://\u0440\u0430\u0443\u0440\u0430l.com/"}',
  });
  assert.deepEqual(
    found.map(({ kind, place }) => [kind, place.name]),
    [
      ["mixed", "the reasoning"],
      ["host", "url"],
    ],
  );
});

test("a long stretch of white space is found", () => {
  const found = findingsOf({ ...ordinary, payload: JSON.stringify([`a${" ".repeat(5_000)}b`]) });
  assert.deepEqual(found.map(describeFinding), ["A long stretch of white space in [0]"]);
});
