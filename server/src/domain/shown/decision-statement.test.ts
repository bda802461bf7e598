import assert from "node:assert/strict";
import { test } from "node:test";
import {
  challengeText,
  decisionStatement,
  executedText,
  type Statement,
} from "./decision-statement.ts";

const statement: Statement = {
  request: "req_1",
  workspace: "ws_1",
  verdict: "approve",
  revision: 1,
  payload: "p",
  effective: "e",
  shown: "s",
  audience: ["payments"],
  expires: "2026-01-01T00:00:00.000Z",
  checkpoint: "example.com/log/ws_1\n7\nroot\n",
};

test("a statement is one line of JSON in a fixed order, whatever the order of its parts", () => {
  const text = `{"request":"req_1","workspace":"ws_1","verdict":"approve","revision":1,"payload":"p","effective":"e","shown":"s","audience":["payments"],"expires":"2026-01-01T00:00:00.000Z","checkpoint":"example.com/log/ws_1\\n7\\nroot\\n"}`;
  assert.equal(decisionStatement(statement), text);
  const reversed = Object.fromEntries(Object.entries(statement).toReversed()) as Statement;
  assert.equal(decisionStatement(reversed), text);
  const { checkpoint } = JSON.parse(decisionStatement({ ...statement, checkpoint: null }));
  assert.equal(checkpoint, null);
});

test("each part changes the statement, and so does one more of anything", () => {
  const others: Partial<Statement>[] = [
    { request: "req_2" },
    { workspace: "ws_2" },
    { verdict: "reject" },
    { revision: 2 },
    { payload: null },
    { effective: null },
    { shown: "t" },
    { audience: ["payments", "other"] },
    { expires: "2026-01-01T00:00:00.001Z" },
    { checkpoint: null },
  ];
  assert.equal(others.length, Object.keys(statement).length, "a part is missing here");
  const texts = others.map((other) => decisionStatement({ ...statement, ...other }));
  assert.equal(new Set([decisionStatement(statement), ...texts]).size, others.length + 1);
});

test("nothing else that is signed begins like a decision", () => {
  assert.equal(challengeText("{}"), "countersign decision v1\u0000{}");
});

test("what is executed is the edit, else the approvers' text, else the agent's, to the byte", () => {
  const payload = '{"amount": 9007199254740993}';
  const change = { payload: '{"amount":2}' };
  assert.equal(executedText({ payload }, null), payload);
  assert.equal(
    executedText({ payload }, '{"amount":9007199254740992}'),
    '{"amount":9007199254740992}',
  );
  assert.equal(executedText({ payload }, '{"amount":9007199254740993}'), payload, "no edit");
  assert.equal(executedText({ payload, change }, null), change.payload);
  assert.equal(executedText({ payload, change }, ' {"amount":3}\n'), '{"amount":3}');
  assert.equal(executedText({ payload, change }, '{"amount": 2}'), change.payload, "no edit");
  const back = '{"amount":9007199254740993}';
  assert.equal(executedText({ payload, change }, back), payload, "the agent's value again");
  assert.equal(executedText({ payload: null }, null), null);
  assert.equal(executedText({ payload: null }, "{}"), "{}");
});
