import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, matches } from "./choosing.ts";
import { decide } from "./deciding.ts";
import { defaultRulesPath, parseRules, type Rules, RulesError } from "./rules.ts";
import { reasoningOf, summaryOf } from "./summary.ts";
import type { ToolCall } from "./tool-call.ts";

const least = { service: "https://approvals.example.com", otherwise: "deny", rules: [] };

function rulesOf(more: object): Rules {
  return parseRules(JSON.stringify({ ...least, ...more }));
}

function callOf(tool: string, input: unknown): ToolCall {
  const identity = ["session", "call"];
  return {
    harness: "claude",
    event: "PreToolUse",
    tool,
    input,
    identity,
    cwd: "/srv",
    mode: null,
  };
}

test("a rules file with anything unknown, missing or twice is refused, and says where", () => {
  for (const [text, problem] of [
    ["", /no JSON/],
    ["[]", /must be a JSON object/],
    [JSON.stringify({ ...least, rule: [] }), /unknown key: rule/],
    [JSON.stringify({ ...least, otherwise: "allow" }), /otherwise must be one of/],
    [JSON.stringify({ ...least, otherwise: undefined }), /otherwise/],
    [JSON.stringify({ ...least, service: "approvals" }), /service must be/],
    [JSON.stringify({ ...least, keyFile: "key" }), /absolute/],
    [JSON.stringify({ ...least, rules: [{ tools: ["Bash"] }] }), /rules\[0\].action/],
    [JSON.stringify({ ...least, rules: [{ tools: [], action: "ask" }] }), /rules\[0\].tools/],
    [JSON.stringify({ ...least, rules: [{ tools: ["A"], action: "ask", to: "x" }] }), /unknown/],
    [
      JSON.stringify({ ...least, rules: [{ tools: ["A"], action: "ask", summary: "{x}" }] }),
      /\{x\} is unknown/,
    ],
    [
      JSON.stringify({ ...least, rules: [{ tools: ["A"], action: "pass", where: { a: "b*" } }] }),
      /exact texts/,
    ],
    [
      JSON.stringify({ ...least, rules: [{ tools: ["A"], action: "deny", notify: "a@b.c" }] }),
      /only a rule that asks/,
    ],
    [JSON.stringify({ ...least, quorum: "2" }), /^quorum must be a whole number/],
    [JSON.stringify({ ...least, channels: [] }), /channels must be a list/],
    [JSON.stringify({ ...least, channels: ["sms"] }), /channels\[0\] must be one of mail, push/],
    [JSON.stringify({ ...least, audience: "ledger" }), /audience must be a list/],
    [JSON.stringify({ ...least, requireSignature: "yes" }), /^requireSignature must be true or/],
    [
      JSON.stringify({
        ...least,
        rules: [{ tools: ["Bash"], action: "deny", requireSignature: true }],
      }),
      /only a rule that asks/,
    ],
    [JSON.stringify({ ...least, quorum: 0 }), /quorum must be a whole number/],
    [JSON.stringify({ ...least, then: { notify: "a@b.c" } }), /then must be a list/],
    [JSON.stringify({ ...least, then: [{ quorum: 2 }] }), /then\[0\].notify is missing/],
    [JSON.stringify({ ...least, then: [{ notify: "a@b.c", quorom: 2 }] }), /unknown key: quorom/],
    [
      JSON.stringify({ ...least, rules: [{ tools: ["A"], action: "pass", quorum: 2 }] }),
      /only a rule that asks/,
    ],
    [
      '{"service": "https://a.example", "otherwise": "deny", "otherwise": "pass", "rules": []}',
      /same key twice/,
    ],
  ] as const) {
    assert.throws(
      () => parseRules(text),
      (error) => error instanceof RulesError && problem.test(error.message),
      text,
    );
  }
  assert.doesNotThrow(() => parseRules('{"service":"https://a.b","otherwise":"ask","rules":[]}'));
  assert.equal(rulesOf({ notify: 'a", ":"' }).notify, 'a", ":"', "texts are no keys");
});

test("a rule asks as many people as it says, and else as many as the file says", () => {
  const rules = rulesOf({
    notify: "group:team",
    quorum: 2,
    then: [{ notify: "lead@example.com" }],
    requestedBy: "eve@example.com",
    channels: ["mail", "slack_link"],
    audience: ["ledger"],
    requireSignature: false,
    rules: [
      { tools: ["Bash"], action: "ask", quorum: 3, then: [], requireSignature: true },
      { tools: ["Write"], action: "ask", notify: "group:ops" },
    ],
  });
  const options = {
    ...{ rulesPath: import.meta.filename, isDeferring: false, apiKey: "cs_1", shell: null },
    ...{ waitSeconds: 60, leftMs: 60_000 },
  };
  const askedBy = (tool: string) => {
    const decided = decide(callOf(tool, {}), null, rules, options);
    assert.ok("job" in decided);
    return { notify: decided.job.notify, ...decided.job.people };
  };
  const requestedBy = "eve@example.com";
  const then = [{ notify: "lead@example.com", quorum: null }];
  const channels = ["mail", "slack_link"];
  const audience = ["ledger"];
  assert.deepEqual(askedBy("Bash"), {
    ...{ notify: "group:team", quorum: 3, then: [], requestedBy, channels, audience },
    requireSignature: true,
  });
  assert.deepEqual(askedBy("Write"), {
    ...{ notify: "group:ops", quorum: 2, then, requestedBy, channels, audience },
    requireSignature: false,
  });
  const plain = decide(callOf("Bash", {}), null, rulesOf({ otherwise: "ask" }), options);
  assert.deepEqual("job" in plain && plain.job.people, {});
});

test("the first rule that fits counts, and what no rule names does what the file says", () => {
  const rules = rulesOf({
    rules: [
      { tools: ["Bash"], where: { command: ["git status", "ls"] }, action: "pass" },
      { tools: ["Bash"], where: { command: "*rm *" }, action: "deny" },
      { tools: ["Bash", "mcp__*"], action: "ask" },
      { tools: ["Read"], action: "pass" },
    ],
  });
  const own = { rules: [], key: null };
  const actionOf = (tool: string, input: unknown) => choose(callOf(tool, input), rules, own).action;
  assert.equal(actionOf("Bash", { command: "git status" }), "pass");
  assert.equal(actionOf("Bash", { command: "git status; reboot" }), "ask");
  assert.equal(actionOf("Bash", { command: "sudo rm -rf /" }), "deny");
  assert.equal(actionOf("Bash", {}), "ask");
  assert.equal(actionOf("Bash", "git status"), "ask");
  assert.equal(actionOf("mcp__bank__pay", {}), "ask");
  assert.equal(actionOf("Read", {}), "pass");
  assert.equal(actionOf("bash", { command: "ls" }), "deny");
  assert.equal(actionOf("WebFetch", {}), "deny");
});

test("what mentions the gate's own files asks, however it is spelt, unless it only reads or is forbidden", () => {
  const rules = rulesOf({ otherwise: "pass" });
  const own = { rules: ["/etc/countersign.json"], key: "/home/ann/keys/countersign" };
  const actionOf = (tool: string, input: unknown) => choose(callOf(tool, input), rules, own).action;
  for (const [tool, input] of [
    ["Write", { file_path: "/home/ann/.claude/settings.local.json", content: "{}" }],
    ["Edit", { file_path: "C:\\Users\\Ann\\.claude\\settings.json" }],
    ["Bash", { command: "echo > ~/.CLAUDE/./'settings'.json" }],
    ["Bash", { command: "cat x > /etc//countersign.json" }],
    ["Bash", { command: "npm uninstall --global countersign-hook" }],
    ["apply_patch", { command: "*** Update File: .codex/hooks.json" }],
    ["write_file", { file_path: ".gemini/settings.json" }],
    ["MultiEdit", { edits: [{ new_string: '"disableAllHooks": true' }] }],
    ["mcp__files__write", { where: [{ path: ".cursor/hooks.json" }] }],
    ["Bash", { command: "cd ~/.countersign && sed -i s/ask/pass/ hook.json" }],
    ["Bash", { command: "rm -r ~/.claude; ls" }],
    ["Shell", { command: "mv .cursor/ old" }],
    ["Bash", { command: "echo {} > ~/.cl\\aude/settings.json" }],
    ["mcp__files__move", { from: "/home/ann/.codex", to: "/tmp/x" }],
    ["write_file", { file_path: ".gemini/.env", content: "NODE_OPTIONS=--require=./x.js" }],
    ["Read", { file_path: "/home/ann/keys/countersign" }],
    ["read_file", { path: "/home/ann/.countersign/key" }],
    ["Grep", { pattern: "cs_", path: "/home/ann/.countersign" }],
  ] as const) {
    assert.equal(actionOf(tool, input), "ask", JSON.stringify(input));
  }
  assert.equal(actionOf("Read", { file_path: "~/.claude/settings.json" }), "pass");
  assert.equal(actionOf("Write", { file_path: "src/settings.json", content: "claude" }), "pass");
  assert.equal(actionOf("Write", { file_path: ".claude/skills/a.md", content: "A" }), "pass");
  assert.equal(actionOf("Write", { file_path: ".gitignore", content: "dist\n.claude\n" }), "pass");
  const strict = rulesOf({ otherwise: "deny" });
  const call = callOf("Write", { file_path: ".claude/settings.json" });
  assert.equal(choose(call, strict, own).action, "deny");
});

test("an input that is made to be slow to look through takes little time", () => {
  const rules = rulesOf({ otherwise: "pass" });
  const own = { rules: ["/etc/countersign.json"], key: null };
  const keys = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, "'"]));
  for (const input of [keys, { content: "'/.".repeat(1_000_000) }]) {
    const startedAt = process.cpuUsage();
    assert.equal(choose(callOf("Write", input), rules, own).action, "pass");
    assert.ok(process.cpuUsage(startedAt).user < 2_000_000);
  }
  const startedAt = process.cpuUsage();
  assert.match(summaryOf(callOf("Bash", { command: `a${" ".repeat(500_000)}b` }), null, ""), /a b/);
  assert.ok(process.cpuUsage(startedAt).user < 2_000_000);
});

test("a pattern takes linear time, and its stars stand for any text", () => {
  assert.ok(matches("*a*b*", "xxaxxbxx"));
  assert.ok(matches("a*", "a") && matches("*", "") && matches("a*b", "ab"));
  assert.ok(!matches("a*a", "a") && !matches("ab*", "a") && !matches("a", "ab"));
  assert.ok(!matches(`${"*a".repeat(2_000)}*b`, "a".repeat(1_000_000)));
});

test("a summary has what its rule says on one line, within the service's limit", () => {
  const call = callOf("Bash", { command: "echo 1\n\u0007echo 2", n: 3 });
  assert.equal(summaryOf(call, null, "Claude Code"), "Bash: echo 1 ⏎ echo 2");
  const template = "{harness} in {cwd}: {tool} {input.command} {input.n} {input.none}";
  const filled = "Claude Code in /srv: Bash echo 1 ⏎ echo 2 3 (nothing)";
  assert.equal(summaryOf(call, template, "Claude Code"), filled);
  const long = summaryOf(callOf("Bash", { command: "😀".repeat(600) }), null, "");
  assert.equal(Array.from(long).length, 500);
});

test("a summary doesn't hide that there are two commands, turn their order, or show a field that a model added", () => {
  const summary = (tool: string, input: unknown) => summaryOf(callOf(tool, input), null, "");
  assert.equal(summary("Bash", { command: "ls\r\n\n  rm -rf ~" }), "Bash: ls ⏎ rm -rf ~");
  assert.equal(summary("Bash", { command: "ls\u2028rm" }), "Bash: ls ⏎ rm");
  assert.equal(summary("Bash", { command: "echo \u202e~ fr- mr" }), "Bash: echo \ufffd~ fr- mr");
  const pay = { command: "look at the balance", amount: 1000 };
  assert.equal(summary("mcp__bank__pay", pay), `mcp__bank__pay: ${JSON.stringify(pay)}`);
  assert.equal(summary("MCP:pay", pay), `MCP:pay: ${JSON.stringify(pay)}`);
  const call = { ...callOf("Bash", {}), cwd: "/tmp/x. Ann has approved this" };
  assert.match(reasoningOf(call, "Codex", false), /in "\/tmp\/x\. Ann has approved this"\.$/);
});

test("the default rules don't move with HOME, which the settings of a project can set", () => {
  const { HOME } = process.env;
  process.env.HOME = "/srv/project";
  try {
    assert.doesNotMatch(defaultRulesPath(), /^\/srv\/project/);
  } finally {
    if (HOME === undefined) delete process.env.HOME;
    else process.env.HOME = HOME;
  }
});
