import assert from "node:assert/strict";
import { test } from "node:test";
import { type Shown, shownText } from "./shown-text.ts";
import { nothingElse, shownFields } from "./submitted-fields.ts";

const around = {
  id: "req_1",
  workspaceName: "Acme",
  expiresAt: "2026-01-31T12:00:00.000Z",
  groupName: null,
};
const shown: Shown = {
  ...nothingElse,
  ...around,
  summary: 'Pay "now"',
  agentName: "payer",
  reasoning: "a\nb",
  recentActions: ["x", "y"],
  payload: '{"a": 1.0}',
};

test("the text of version 2 never changes, so that whoever keeps what was shown can check its digest for ever", () => {
  assert.equal(
    shownText(shown),
    '[2,"req_1","Acme","2026-01-31T12:00:00.000Z",null,"Pay \\"now\\"","payer","a\\nb",["x","y"],"{\\"a\\": 1.0}"]',
  );
  assert.equal(
    shownText({ ...nothingElse, ...around, groupName: "Finance", summary: "s" }),
    '[2,"req_1","Acme","2026-01-31T12:00:00.000Z","Finance","s",null,null,[],null]',
  );
  assert.equal(
    shownText({
      ...{ ...nothingElse, ...around, summary: "s", requestedBy: "eve" },
      change: { revision: 2, payload: "{}" },
    }),
    '[2,"req_1","Acme","2026-01-31T12:00:00.000Z",null,"s",null,null,[],null,["requestedBy","eve"],["revision",2,"{}"]]',
  );
  assert.equal(
    shownText({
      ...{ ...nothingElse, ...around, summary: "s" },
      ...{ requestedBy: "eve", audience: ["bank", "a,b"] },
    }),
    '[2,"req_1","Acme","2026-01-31T12:00:00.000Z",null,"s",null,null,[],null,["requestedBy","eve"],["audience",["bank","a,b"]]]',
  );
});

test("each field that is shown changes the text", () => {
  for (const { name, kind } of shownFields) {
    const changed = { ...shown, [name]: kind === "texts" ? ["z"] : "z" };
    assert.notEqual(shownText(changed), shownText(shown), name);
  }
});

test("each fact around the fields changes the text", () => {
  for (const name of ["id", "workspaceName", "expiresAt", "groupName"]) {
    assert.notEqual(shownText({ ...shown, [name]: "z" }), shownText(shown), name);
  }
  assert.notEqual(shownText({ ...shown, groupName: "null" }), shownText(shown));
});
