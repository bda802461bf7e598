import assert from "node:assert/strict";
import { test } from "node:test";
import { shownText } from "./shown-text.ts";
import { nothingElse, shownFields } from "./submitted-fields.ts";

const shown = {
  ...nothingElse,
  id: "req_1",
  summary: 'Pay "now"',
  agentName: "payer",
  reasoning: "a\nb",
  recentActions: ["x", "y"],
  payload: '{"a": 1.0}',
};

test("the text for fields of the first version never changes, so a page opened before an upgrade still decides", () => {
  assert.equal(
    shownText(shown),
    '[1,"req_1","Pay \\"now\\"","payer","a\\nb",["x","y"],"{\\"a\\": 1.0}"]',
  );
  assert.equal(
    shownText({ ...nothingElse, id: "req_1", summary: "s" }),
    '[1,"req_1","s",null,null,[],null]',
  );
});

test("each field that is shown changes the text", () => {
  for (const { name, kind } of shownFields) {
    const changed = { ...shown, [name]: kind === "texts" ? ["z"] : "z" };
    assert.notEqual(shownText(changed), shownText(shown), name);
  }
});
