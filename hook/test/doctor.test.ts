// `countersign-hook doctor`, on settings files as the documentation has them and on such with a mistake each.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { examineHarness } from "../src/doctor.ts";
import { harnesses } from "../src/harnesses.ts";
import { defaultRulesPath, parseRules } from "../src/rules.ts";
import type { HarnessName } from "../src/tool-call.ts";

const root = mkdtempSync(join(tmpdir(), "countersign-doctor-"));
after(() => rmSync(root, { recursive: true, force: true }));

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "hooks.md"), "utf8");
const files: Record<HarnessName, string> = {
  claude: ".claude/settings.json",
  codex: ".codex/hooks.json",
  cursor: ".cursor/hooks.json",
  gemini: ".gemini/settings.json",
};

/** The settings that the documentation gives, from the part of their harness. */
function documented(name: HarnessName): string {
  const [, part = ""] = page.split(`\n## ${harnesses[name].title}\n`);
  return /```json\n([^`]*)```/.exec(part)?.[1] ?? "";
}

const rules = parseRules(/```json\n(\{\n {2}"service"[^`]*)```/.exec(page)?.[1] ?? "");

let count = 0;

function problemsOf(
  name: HarnessName,
  settings: string,
  where: "home" | "project" | "both" = "home",
) {
  count += 1;
  const home = join(root, `home-${count}`);
  const project = join(root, `project-${count}`);
  for (const folder of where === "both" ? [home, project] : [where === "home" ? home : project]) {
    mkdirSync(dirname(join(folder, files[name])), { recursive: true });
    writeFileSync(join(folder, files[name]), settings);
  }
  const rulesPath = defaultRulesPath();
  const { findings } = examineHarness(name, rules, { project, rulesPath }, home);
  return findings.filter(({ level }) => level === "problem").map(({ text }) => text);
}

for (const name of Object.keys(files) as HarnessName[]) {
  const settings = documented(name);

  test(`${harnesses[name].title}: the documented settings and rules have no problem`, () => {
    assert.deepEqual(problemsOf(name, settings), []);
    assert.deepEqual(problemsOf(name, settings, "project"), []);
  });

  test(`${harnesses[name].title}: a limit that is too short, and a hook registered twice, are found`, () => {
    const short = settings.replace(
      /"timeout": \d+/,
      name === "gemini" ? '"timeout": 60000' : '"timeout": 60',
    );
    assert.match(problemsOf(name, short).join(), /gives up after 60 s and we deny after \d+ s/);
    assert.match(problemsOf(name, settings, "both").join(), /registered twice/);
    const open = settings.replace(/ \|\| \{[^}]*\}/, "").replace(/"(onFailure|failClosed)"/, '"x"');
    assert.notDeepEqual(problemsOf(name, open), []);
    assert.match(problemsOf(name, "{").join(), /no plain JSON/);
  });
}

test("a hook for one tool of several, a switched off one and other rules are found", () => {
  const settings = documented("claude");
  const some = settings.replace('"matcher": "*"', '"matcher": "Bash"');
  assert.match(problemsOf("claude", some).join(), /doesn't run for .*mcp__/);
  const off = settings.replace("{", '{"disableAllHooks": true,');
  assert.match(problemsOf("claude", off).join(), /disableAllHooks/);
  const other = settings.replace("countersign-hook", "countersign-hook --rules /etc/other.json");
  assert.match(problemsOf("claude", other).join(), /it uses \/etc\/other.json/);
  const unlimited = documented("cursor").replace(/"timeout": \d+,/, "");
  assert.match(problemsOf("cursor", unlimited).join(), /set timeout/);
});
