// Whether a harness runs this hook for every call that the rules gate, waits for it, and takes its failure as a "no".

import { basename } from "node:path";
import { type Finding, ok, problem, warning, writableFindings } from "./findings.ts";
import { harnesses } from "./harnesses.ts";
import type { HookCommand } from "./hook-command.ts";
import {
  covers,
  type Registration,
  readSettings,
  registrationsIn,
  type SettingsPlaces,
  strangersIn,
} from "./registrations.ts";
import type { Rules } from "./rules.ts";
import { examineTools } from "./rules-check.ts";
import { switchedOff } from "./switches.ts";
import type { HarnessName } from "./tool-call.ts";

export type CheckOptions = SettingsPlaces & {
  rulesPath: string;
  /** `SHELL`. */
  shell: string | null;
};

/** The harness's limit must be longer than ours by so much, for a machine that is slow. */
const marginSeconds = 10;
const posixShells = ["sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"];

export function examineHarness(
  name: HarnessName,
  rules: Rules,
  options: CheckOptions,
): { findings: Finding[]; registrations: number } {
  const { title } = harnesses[name];
  const { files, problems } = readSettings(name, options);
  const found = registrationsIn(name, files);
  const findings = problems.map((text) => problem(`${title}: ${text}.`));
  if (found.length === 0) return { findings, registrations: 0 };
  const own = found.flatMap((each) => [
    ...examineOne(name, each, options),
    ...writableFindings([each.file]),
  ]);
  return {
    registrations: found.length,
    findings: [
      ...findings,
      ...own,
      ...examineCover(name, found, rules),
      ...examineTools(name, rules),
      ...switchedOff(name, files, found),
      ...strangersIn(name, files).map(({ file, event }) =>
        warning(
          `${title}, ${file}, ${event}: another hook runs, too. If it changes inputs, what runs isn't what was approved.`,
        ),
      ),
    ],
  };
}

function examineOne(name: HarnessName, each: Registration, options: CheckOptions): Finding[] {
  const place = `${harnesses[name].title}, ${each.file}, ${each.event}`;
  const { command } = each;
  const findings = [
    ...(command === null
      ? [
          problem(
            `${place}: this can't tell what "${each.text}" does when the hook says no. Use the documented command.`,
          ),
        ]
      : [...examineTime(name, each, command), ...examineCommand(name, each, command, options)]),
    ...(each.isCommand ? [] : [problem("the harness doesn't run it: set type to command.")]),
    ...(each.hasCondition ? [problem("with if, the harness runs it for some calls only.")] : []),
    ...(each.isAsync ? [problem("an async hook can't block anything.")] : []),
    ...(name === "cursor" && !each.blocksOnFailure
      ? [problem("set failClosed to true, or a failing hook lets calls pass.")]
      : []),
  ];
  return findings.map(({ level, text }) => ({
    level,
    text: text.startsWith(place) ? text : `${place}: ${text}`,
  }));
}

function examineTime(name: HarnessName, each: Registration, { given }: HookCommand): Finding[] {
  const wait = given.waitSeconds ?? harnesses[name].waitSeconds;
  const limit = each.timeoutSeconds;
  if (limit === null) return [problem("set timeout, because the default is not documented.")];
  if (Number.isNaN(limit)) return [problem("timeout must be a whole number.")];
  if (limit >= wait + marginSeconds) {
    return [ok(`we deny after ${wait} s, before the harness's ${limit} s.`)];
  }
  return [
    problem(
      `the harness gives up after ${limit} s and we deny after ${wait} s. Set timeout to at least ${wait + marginSeconds} s, or --wait to at most ${Math.max(1, limit - marginSeconds)}.`,
    ),
  ];
}

function examineCommand(
  name: HarnessName,
  each: Registration,
  { given, hasGuard, isDraining, needsPosixShell }: HookCommand,
  { rulesPath, shell }: CheckOptions,
): Finding[] {
  const findings: Finding[] = [];
  if (name === "claude" && !each.blocksOnFailure && !hasGuard) {
    findings.push(problem(`set onFailure to "block", or a failing hook lets calls pass.`));
  }
  if ((name === "codex" || name === "gemini") && !hasGuard) {
    findings.push(problem("end the command with || { echo …; exit 2; }, as documented."));
  }
  if (hasGuard && !isDraining) {
    findings.push(warning("the end of the command doesn't read the call: use the documented one."));
  }
  if (needsPosixShell && shell !== null && !posixShells.includes(basename(shell))) {
    findings.push(
      problem(
        `${basename(shell)} may not understand the command: begin it with sh -c, as documented.`,
      ),
    );
  }
  if (given.format !== null && given.format !== name) {
    findings.push(problem(`--format is ${given.format}, so every call is denied.`));
  }
  if (given.rulesPath !== rulesPath) {
    findings.push(problem(`it uses ${given.rulesPath}, not the rules that were checked here.`));
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
