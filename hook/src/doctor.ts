// `countersign-hook doctor`: whether the rules, the key and the harnesses' settings fit together, so that no call can slip
// past. It changes nothing.

import { accessSync, constants } from "node:fs";
import { Countersign } from "../../sdk/src/client.ts";
import { readKey } from "./deciding.ts";
import { harnesses } from "./harnesses.ts";
import type { HookOptions } from "./hook.ts";
import {
  covers,
  type Registration,
  readSettings,
  registrationsIn,
  type SettingsFile,
} from "./registrations.ts";
import { defaultRulesPath, type Rules, readRules } from "./rules.ts";
import { noisyShell } from "./shell-noise.ts";
import { type HarnessName, isObject } from "./tool-call.ts";

export type Finding = { level: "ok" | "warning" | "problem"; text: string };

type DoctorOptions = HookOptions & { project: string };

/** The harness's limit must be longer than ours by so much, for a machine that is slow. */
const marginSeconds = 10;

export async function runDoctor(options: DoctorOptions): Promise<void> {
  const findings = await examine(options);
  for (const { level, text } of findings) process.stdout.write(`${level.padEnd(8)} ${text}\n`);
  process.exitCode = findings.some(({ level }) => level === "problem") ? 1 : 0;
}

async function examine(options: DoctorOptions): Promise<Finding[]> {
  let rules: Rules;
  try {
    rules = readRules(options.rulesPath);
  } catch (error) {
    return [problem(`Rules: ${messageOf(error)}. Every call is denied.`)];
  }
  const names = options.format === null ? Object.values(harnesses) : [harnesses[options.format]];
  const found = names.map(({ name }) => examineHarness(name, rules, options));
  const isRegistered = found.some(({ registrations }) => registrations > 0);
  return [
    ok(
      `Rules: ${options.rulesPath} has ${rules.rules.length} rules; otherwise ${rules.otherwise}.`,
    ),
    ...writableFindings([options.rulesPath]),
    ...shellFindings(options.shell),
    ...(await examineService(rules, options)),
    ...found.flatMap(({ findings }) => findings),
    ...(isRegistered
      ? []
      : [problem(`No settings in ${options.project} or in your home folder run this hook.`)]),
  ];
}

async function examineService(rules: Rules, { apiKey }: DoctorOptions): Promise<Finding[]> {
  try {
    const client = new Countersign({
      apiKey: readKey(rules, apiKey),
      baseUrl: rules.service,
      retriesMax: 1,
      timeoutMs: 10_000,
    });
    const approver = await client.requests.defaultApprover();
    const isAlone = rules.notify === null && approver === null;
    const asks = rules.rules.some(({ action, notify }) => action === "ask" && notify === null);
    return [
      ok(`Service: ${rules.service} knows the key.`),
      ...(isAlone && (asks || rules.otherwise === "ask")
        ? [problem("Nobody is set to be asked: set notify in the rules, or a default approver.")]
        : []),
    ];
  } catch (error) {
    return [problem(`Service: ${messageOf(error)}`)];
  }
}

export function examineHarness(
  name: HarnessName,
  rules: Rules,
  { project, rulesPath }: Pick<DoctorOptions, "project" | "rulesPath">,
  home?: string,
): { findings: Finding[]; registrations: number } {
  const { title } = harnesses[name];
  const { files, problems } = readSettings(name, project, home);
  const found = registrationsIn(name, files);
  const findings = problems.map((text) => problem(`${title}: ${text}.`));
  if (found.length === 0) return { findings, registrations: 0 };
  const own = found.flatMap((each) => [
    ...examineOne(name, each, rulesPath),
    ...writableFindings([each.file]),
  ]);
  return {
    registrations: found.length,
    findings: [
      ...findings,
      ...own,
      ...examineCover(name, found, rules),
      ...files.flatMap((file) => switchedOff(name, file, found)),
      ...(name === "codex"
        ? [warning("Codex runs a hook only once you have trusted it: look at /hooks in Codex.")]
        : []),
    ],
  };
}

function examineOne(name: HarnessName, each: Registration, rulesPath: string): Finding[] {
  const place = `${harnesses[name].title}, ${each.file}, ${each.event}`;
  const wait = Number(/--wait[ =](\d+)/.exec(each.command)?.[1] ?? harnesses[name].waitSeconds);
  const limit = each.timeoutSeconds;
  const findings: Finding[] = [];
  if (limit === null) {
    findings.push(problem(`${place}: set timeout, because the default is not documented.`));
  } else if (limit < wait + marginSeconds) {
    findings.push(
      problem(
        `${place}: the harness gives up after ${limit} s and we deny after ${wait} s. Set timeout to at least ${wait + marginSeconds} s, or --wait to at most ${Math.max(1, limit - marginSeconds)}.`,
      ),
    );
  } else findings.push(ok(`${place}: we deny after ${wait} s, before the harness's ${limit} s.`));
  const hasShellGuard = /\|\|.*exit 2/.test(each.command);
  if (name === "cursor" && !each.blocksOnFailure) {
    findings.push(problem(`${place}: set failClosed to true, or a failing hook lets calls pass.`));
  }
  if (name === "claude" && !each.blocksOnFailure && !hasShellGuard) {
    findings.push(
      problem(`${place}: set onFailure to "block", or a failing hook lets calls pass.`),
    );
  }
  if ((name === "codex" || name === "gemini") && !hasShellGuard) {
    findings.push(problem(`${place}: end the command with || { echo …; exit 2; }, as documented.`));
  }
  if (each.isAsync) findings.push(problem(`${place}: an async hook can't block anything.`));
  const used = /--rules[ =]["']?([^\s"']+)/.exec(each.command)?.[1] ?? defaultRulesPath();
  if (used !== rulesPath && used !== rulesPath.replace(/^.*(?=\/\.countersign\/)/, "~")) {
    findings.push(problem(`${place}: it uses ${used}, not the rules that were checked here.`));
  }
  return findings;
}

function examineCover(name: HarnessName, found: Registration[], rules: Rules): Finding[] {
  const { title } = harnesses[name];
  const gated = rules.rules.filter(({ action }) => action !== "pass").flatMap(({ tools }) => tools);
  const wanted = rules.otherwise === "pass" ? gated : [...gated, "*"];
  const missed = wanted.filter((tool) => !found.some((each) => covers(name, each, tool)));
  const seesAll = found.some((each) => covers(name, each, "*"));
  const twice = ["*", ...gated, "Shell", "MCP:any"].some(
    (tool) => found.filter((each) => covers(name, each, tool)).length > 1,
  );
  return [
    ...(missed.length === 0
      ? [ok(`${title}: the hook runs for every tool that the rules gate.`)]
      : [problem(`${title}: the hook doesn't run for ${[...new Set(missed)].join(", ")}.`)]),
    ...(seesAll || missed.includes("*")
      ? []
      : [warning(`${title}: a hook for some tools doesn't see changes of its own settings.`)]),
    ...(twice
      ? [problem(`${title}: it is registered twice for a tool, and would ask twice.`)]
      : []),
  ];
}

function switchedOff(
  name: HarnessName,
  { path, content }: SettingsFile,
  found: Registration[],
): Finding[] {
  const findings: Finding[] = [];
  if (content.disableAllHooks === true) findings.push(problem(`${path}: disableAllHooks is set.`));
  const { enabled, disabled } = isObject(content.hooksConfig) ? content.hooksConfig : {};
  if (name === "gemini" && enabled === false)
    findings.push(problem(`${path}: hooks are disabled.`));
  if (name === "gemini" && Array.isArray(disabled) && disabled.length > 0) {
    findings.push(problem(`${path}: hooksConfig.disabled names hooks; is it this one?`));
  }
  const permissions = isObject(content.permissions) ? content.permissions : {};
  const isDeferring = found.some(({ command }) => command.includes("--defer"));
  const hasAllowed = Array.isArray(permissions.allow) && permissions.allow.length > 0;
  if (name === "claude" && isDeferring && (hasAllowed || "defaultMode" in permissions)) {
    findings.push(
      problem(`${path}: with --defer, no permissions.allow and no defaultMode may let calls pass.`),
    );
  }
  return findings;
}

function shellFindings(shell: string | null): Finding[] {
  const noisy = noisyShell(shell);
  if (noisy === null) return [];
  const text = `${noisy} prints a text, from your profile. A harness can't read what the hook says behind it, so edits are handed back.`;
  return [problem(text)];
}

function writableFindings(paths: string[]): Finding[] {
  return paths
    .filter(isWritable)
    .map((path) => warning(`${path} can be written by you, and so by an agent that runs as you.`));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function ok(text: string): Finding {
  return { level: "ok", text };
}

function warning(text: string): Finding {
  return { level: "warning", text };
}

function problem(text: string): Finding {
  return { level: "problem", text };
}
