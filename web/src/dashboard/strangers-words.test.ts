// Holds that no component shows a stranger's words as they come. The words of agents, receivers and people go through
// `Visible`, or through `toVisibleText` where only a string will do, so that nothing in them hides or moves our words.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

/** The contract's names for such texts. */
const untrusted = [
  "address",
  "agentName",
  "approverEmail",
  "disabledReason",
  "email",
  "invitedBy",
  "message",
  "name",
  "plan",
  "reason",
  "reasoning",
  "requestSummary",
  "resolutionNote",
  "resolvedByEmail",
  "responseStart",
  "reviewerEmail",
  "summary",
  "url",
  "userAgent",
  "workspaceName",
].join("|");

/** `words` holds our own texts. */
const path = String.raw`(?!words\.)(?:\w+\??\.)*(?:${untrusted})`;
const shownRaw = [
  // {email} between tags; the formatter leaves blanks in every other brace, and = stands before an attribute's.
  new RegExp(String.raw`(?<![=$])\{${path}\}`, "g"),
  // {isKnown ? email : "somebody"} between tags, at either end.
  new RegExp(String.raw`(?<![=$])\{(?! )[^{}]*(?:\?\?|&&|\?|:)\s+${path}\s*\}`, "g"),
  // `Remove ${email}`
  new RegExp(String.raw`\$\{${path}\}`, "g"),
];

/** Where "name" is one of ours: of a series, of a pattern, of a browser as we call it. */
const namesOfOurs = [
  "account/session-section.tsx",
  "figures/bar-plot.tsx",
  "figures/bar-table.tsx",
  "figures/legend.tsx",
  "figures/time-tile.tsx",
  "figures/tone-pattern.tsx",
  "figures/usage-view.tsx",
];
/** Told to React, shown to nobody. */
const reactKey = /key=\{[^{}]*\$\{[^{}]*\}`\}/g;

test("strangers' words are never shown as they come", () => {
  const files = globSync("**/*.tsx", { cwd: import.meta.dirname });
  assert.ok(files.length > 100);
  const found = files.flatMap((file) =>
    findings(readFileSync(join(import.meta.dirname, file), "utf8"))
      .filter((at) => !(/^\$?\{name\}$/.test(at) && namesOfOurs.includes(file)))
      .map((at) => `${file}: ${at}`),
  );
  assert.deepEqual(found, []);
});

test("the ways in which they could be are found", () => {
  for (const text of [
    "<p>{email}</p>",
    "<p>{group.name}</p>",
    String.raw`title={\`Remove \${member.email}?\`}`,
    "<p>{isKnown && email}</p>",
    '<p>{agentName === null ? "none" : row.agentName}</p>',
  ]) {
    assert.equal(findings(text).length, 1, text);
  }
  for (const text of [
    "<Visible text={email} />",
    "const { email } = useMe();",
    String.raw`aria-label={\`Remove \${toVisibleText(email)}\`}`,
  ]) {
    assert.deepEqual(findings(text), [], text);
  }
});

function findings(text: string): string[] {
  const shown = text.replaceAll(reactKey, "");
  return shownRaw.flatMap((pattern) => [...shown.matchAll(pattern)].map(([found]) => found));
}
