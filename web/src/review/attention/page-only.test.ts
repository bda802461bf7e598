// Holds the rule that keeps a request out of Slack to the page's own warnings.

import assert from "node:assert/strict";
import { test } from "node:test";
import { honestTexts } from "../../../../e2e/honest-texts.ts";
import { linesOfRules, ordinary, wordsOf } from "../../../../e2e/trick.ts";
import { tricks } from "../../../../e2e/tricks-table.ts";
import { pageWarns, type WarnedWords } from "../../../../server/src/domain/channels/page-only.ts";
import { nothingElse } from "../../../../server/src/domain/shown/submitted-fields.ts";
import { mayReorder } from "../../../../server/src/domain/shown/text/writing-order.ts";
import { findingsOf } from "./findings.ts";

const warns = (words: typeof ordinary) => pageWarns({ ...nothingElse, ...words } as WarnedWords);

for (const trick of tricks.filter(({ line }) => linesOfRules.includes(line))) {
  test(`${trick.name} keeps a request out of Slack`, () => {
    assert.equal(warns(wordsOf(trick)), true);
  });
}

test("whatever the page finds in any field keeps a request out of Slack", () => {
  const odd = ["a\u202eb", "p\u0430ypal", "\u200b", "a          b", "1O0", "http://\u0430pple.com"];
  for (const text of odd) {
    for (const words of [
      { summary: text },
      { reasoning: text },
      { agentName: text },
      { requestedBy: text },
      { audience: ["fine.example", text] },
      { recentActions: ["fine", text] },
      { payload: JSON.stringify({ deep: [[{ text }]] }) },
      { payload: JSON.stringify({ [text]: 1 }) },
    ]) {
      const request = { ...ordinary, ...words };
      if (findingsOf(request).length > 0) assert.equal(warns(request), true, JSON.stringify(words));
    }
  }
  assert.equal(warns({ ...ordinary, payload: '{"id":1,"ID":2}' }), true);
  assert.equal(warns({ ...ordinary, payload: '{" id":1}' }), true);
  assert.equal(warns({ ...ordinary, audience: ["שלום.example"] }), true);
  assert.equal(warns({ ...ordinary, audience: ["payments.example.com", "ledger"] }), false);
  assert.equal(warns({ ...ordinary, agentName: "Countersign Security" }), true);
  assert.equal(warns({ ...ordinary, agentName: "ann@example.com" }), true);
});

test("honest texts that move nothing beside them may be decided in Slack", () => {
  for (const { name, text } of honestTexts.filter(({ text }) => !mayReorder(text))) {
    const payload = JSON.stringify({ value: text });
    const words = { summary: text, reasoning: text, recentActions: [text], payload };
    assert.equal(warns({ ...ordinary, ...words }), false, name);
  }
});
