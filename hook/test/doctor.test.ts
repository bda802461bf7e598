// `countersign-hook doctor`, on settings files as the documentation has them and on such with a mistake each.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { harnesses } from "../src/harnesses.ts";
import { defaultRulesPath, parseRules } from "../src/rules.ts";
import { examineTrust } from "../src/rules-check.ts";
import { examineHarness } from "../src/settings-check.ts";
import { noisyShell } from "../src/shell-noise.ts";
import type { HarnessName } from "../src/tool-call.ts";
import { pageOf } from "./stub-harness.ts";

const root = mkdtempSync(join(tmpdir(), "countersign-doctor-"));
after(() => rmSync(root, { recursive: true, force: true }));

const files: Record<HarnessName, string> = {
  claude: ".claude/settings.json",
  codex: ".codex/hooks.json",
  cursor: ".cursor/hooks.json",
  gemini: ".gemini/settings.json",
};

/** The settings that the documentation gives, from the page of their harness. */
function documented(name: HarnessName): string {
  const [, part = ""] = readFileSync(pageOf(name), "utf8").split("\n## Settings\n");
  return /```json\n([^`]*)```/.exec(part)?.[1] ?? "";
}

/** The rules that a page gives. */
function documentedRules(path: string): object {
  const page = readFileSync(path, "utf8");
  return JSON.parse(/```json\n(\{\n {2}"service"[^`]*)```/.exec(page)?.[1] ?? "");
}

const rules = rulesWith(documentedRules(join(import.meta.dirname, "..", "..", "docs", "hooks.md")));

let count = 0;

type Place = "home" | "project" | "both";

type More = {
  /** Beside the settings, by its path in the home folder. */
  files?: Record<string, string>;
  shell?: string;
  moved?: Partial<Record<HarnessName, string>>;
  rules?: object;
};

function findingsOf(name: HarnessName, settings: string, where: Place = "home", more: More = {}) {
  count += 1;
  const home = join(root, `home-${count}`);
  const project = join(root, `project-${count}`);
  for (const folder of where === "both" ? [home, project] : [where === "home" ? home : project]) {
    write(join(folder, files[name]), settings);
  }
  for (const [path, text] of Object.entries(more.files ?? {})) write(join(home, path), text);
  const { shell = "/bin/bash", moved = {} } = more;
  const options = { project, home, moved, rulesPath: defaultRulesPath(), shell };
  const checked = more.rules === undefined ? rules : rulesWith(more.rules);
  return examineHarness(name, checked, options).findings;
}

function problemsOf(name: HarnessName, settings: string, where?: Place, more?: More): string[] {
  return textsOf("problem", findingsOf(name, settings, where, more));
}

function textsOf(level: string, findings: ReturnType<typeof findingsOf>): string[] {
  return findings.filter((each) => each.level === level).map(({ text }) => text);
}

function rulesWith(more: object) {
  const least = { service: "https://approvals.example.com", otherwise: "pass", rules: [] };
  return parseRules(JSON.stringify({ ...least, ...more }));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

for (const name of Object.keys(files) as HarnessName[]) {
  const settings = documented(name);

  test(`${harnesses[name].title}: the documented settings and rules have no problem`, () => {
    assert.deepEqual(problemsOf(name, settings), []);
    assert.deepEqual(problemsOf(name, settings, "project"), []);
    const own = { rules: documentedRules(pageOf(name)) };
    assert.deepEqual(problemsOf(name, settings, "home", own), []);
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

/** With another command in the place of the documented one. */
function running(name: HarnessName, command: string): string {
  return documented(name).replace(/"command": ".*"/, `"command": ${JSON.stringify(command)}`);
}

test("a command means the same in every shell: a word, an option and one quoted text", () => {
  for (const name of Object.keys(files) as HarnessName[]) {
    const command: string = JSON.parse(/"command": (".*")/.exec(documented(name))?.[1] ?? "");
    assert.match(command, /^sh -c '[^']+'$/);
  }
  const bare = running("codex", "countersign-hook --wait 5 || { echo No. >&2; exit 2; }");
  assert.deepEqual(problemsOf("codex", bare), []);
  // Before its version 4.1, fish has no braces: the command ends with 127, and Codex lets the call pass.
  const inFish = problemsOf("codex", bare, "home", { shell: "/usr/bin/fish" });
  assert.match(inFish.join(), /fish may not understand the command/);
  assert.deepEqual(problemsOf("codex", documented("codex"), "home", { shell: "/bin/fish" }), []);
});

test("a command that could turn a no into a pass is found, however it is written", () => {
  const guard = "|| { echo No. >&2; exit 2; }";
  for (const command of [
    "countersign-hook || true",
    `countersign-hook ${guard} || true`,
    `countersign-hook ${guard}; exit 0`,
    "countersign-hook | tee hook.log",
    "countersign-hook &",
    "countersign-hook || { echo No.; exit 2; }",
    "countersign-hook || { exit 2; }",
    "countersign-hook || { echo No. >&2; exit 1; }",
    "countersign-hook --help",
    "countersign-hook doctor",
    "countersign-hook permission-prompt",
    "countersign-hook --wait forever",
    "countersign-hook\nexit 0",
    "echo countersign-hook",
    "NODE_OPTIONS=--require=./x.js countersign-hook",
    "npx @countersign/hook",
    "sh -c 'countersign-hook; true'",
  ]) {
    for (const name of ["claude", "codex", "gemini", "cursor"] as const) {
      assert.notDeepEqual(problemsOf(name, running(name, command)), [], `${name}: ${command}`);
    }
  }
  const gives = (wait: string) =>
    problemsOf("claude", running("claude", `countersign-hook ${wait} ${guard}`));
  assert.deepEqual(gives("--wait 3500"), []);
  assert.match(gives("--wait  9999").join(), /we deny after 9999 s/);
  assert.match(gives("--wait 10 --wait 9999").join(), /we deny after 9999 s/);
  assert.match(gives("--format codex --wait 5").join(), /every call is denied/);
});

test("settings under which the harness doesn't run the hook, or not for every call, are found", () => {
  const changed = (name: HarnessName, from: string, to: string) =>
    problemsOf(name, documented(name).replace(from, to)).join();
  const type = '"type": "command",';
  assert.match(changed("claude", type, `${type} "if": "Bash(git *)",`), /doesn't run for .*Bash/);
  assert.match(changed("claude", type, '"type": "prompt",'), /set type to command/);
  assert.match(changed("codex", type, ""), /set type to command/);
  assert.match(changed("codex", "3600", "3600.5"), /whole number/);
  assert.match(changed("claude", "3600", '"3600"'), /whole number/);
  assert.match(
    changed("codex", "{", '{"version": 1,'),
    /ignores the whole file because of version/,
  );
  assert.match(changed("cursor", '"version": 1,', ""), /version/);
  assert.match(changed("gemini", "{", '{"hooksConfig": {"enabled": false},'), /disabled/);
  assert.match(changed("gemini", "{", '{"tools": {"enableHooks": false},'), /disabled/);
  assert.match(
    changed("gemini", "{", '{"hooksConfig": {"disabled": ["countersign"]},'),
    /is it this/,
  );
  for (const name of ["HOME", "PATH", "NODE_OPTIONS", "BASH_ENV", "COUNTERSIGN_API_KEY"]) {
    assert.match(changed("claude", "{", `{"env": {"${name}": "x"},`), new RegExp(`sets ${name}`));
  }
  assert.equal(changed("claude", "{", '{"env": {"EDITOR": "vi"},'), "");
});

test("what Codex's own configuration switches off is found", () => {
  const problems = (text: string) =>
    problemsOf("codex", documented("codex"), "home", { files: { ".codex/config.toml": text } });
  assert.deepEqual(problems('model = "gpt"\n[features]\nhooks = true\n'), []);
  assert.match(problems("[features]\nhooks = false\n").join(), /hooks is off/);
  assert.match(problems("features = { codex_hooks = false }\n").join(), /hooks is off/);
  assert.match(problems('[hooks.state."a:b"]\nenabled = false\n').join(), /is it this one/);
});

test("--defer beside settings that let calls pass by themselves is found", () => {
  const deferring = documented("claude").replace("--wait 3500", "--wait 3500 --defer");
  assert.deepEqual(problemsOf("claude", deferring), []);
  for (const more of ['"permissions": {"allow": ["Bash"]},', '"sandbox": {"enabled": true},']) {
    assert.match(problemsOf("claude", deferring.replace("{", `{${more}`)).join(), /with --defer/);
  }
});

test("rules that don't gate what they seem to gate are found", () => {
  const told = (level: string, more: object) =>
    textsOf(level, findingsOf("claude", documented("claude"), "home", { rules: more })).join();
  const ask = { tools: ["bash"], action: "ask" };
  assert.match(told("problem", { rules: [ask] }), /no tool bash; it is spelt Bash/);
  assert.match(told("warning", { rules: [] }), /no rule gates Bash/);
  const byText = { tools: ["Bash"], where: { command: "*rm *" }, action: "ask" };
  assert.match(told("warning", { rules: [byText] }), /text of commands alone/);
  assert.doesNotMatch(told("warning", { rules: [byText], otherwise: "ask" }), /text of commands/);
  assert.doesNotMatch(told("warning", { rules: [{ ...ask, tools: ["*"] }] }), /gate/);
});

test("another hook beside this one is named, because it may change what was approved", () => {
  const settings = JSON.parse(documented("codex"));
  settings.hooks.PreToolUse.push({ hooks: [{ type: "command", command: "rewrite" }] });
  const warnings = textsOf("warning", findingsOf("codex", JSON.stringify(settings)));
  assert.match(warnings.join(), /another hook runs, too/);
});

test("a harness whose settings were moved is looked at there, and not at home", () => {
  const moved = { claude: join(root, "moved") };
  assert.deepEqual(findingsOf("claude", documented("claude"), "home", { moved }), []);
  write(join(moved.claude, "settings.json"), documented("claude").replace("3600", "60"));
  const problems = problemsOf("claude", documented("claude"), "home", { moved });
  assert.match(problems.join(), /gives up after 60 s/);
});

test("a project that is the home folder isn't registered twice", () => {
  const home = join(root, "same");
  write(join(home, files.claude), documented("claude"));
  const options = { project: home, home, rulesPath: defaultRulesPath(), shell: null };
  const { findings } = examineHarness("claude", rules, options);
  assert.deepEqual(textsOf("problem", findings), []);
});

test("a service over plain http, and a key from the environment, are found", () => {
  const levels = (more: object) => examineTrust(rulesWith(more)).map(({ level }) => level);
  const keyFile = "/home/ann/key";
  assert.deepEqual(levels({ keyFile }), []);
  assert.deepEqual(levels({ keyFile, service: "http://localhost:3000" }), []);
  assert.deepEqual(levels({ keyFile, service: "http://approvals.example.com" }), ["problem"]);
  assert.deepEqual(levels({}), ["warning"]);
});

test("a shell that isn't there prints nothing", () => {
  assert.equal(noisyShell("/nowhere/fish"), null);
});
