// The rules file: which tools ask, whom, and with which summary. It is read strictly, because a misspelt rule that is
// skipped would let a call pass.

import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import type { AskingChannel, NewStage } from "../../sdk/src/contract.ts";
import { askingChannels } from "../../server/src/domain/shown/asking-channels.ts";
import { repeatedKeyIn } from "./repeated-keys.ts";
import { placeholderProblem } from "./summary.ts";
import { isObject } from "./tool-call.ts";

export type Outcome = "ask" | "pass" | "deny";

/** Whom to ask. What a rule doesn't say, the file says for all. */
export type People = {
  notify: string | null;
  /** How many different people must approve. */
  quorum: number | null;
  /** Who must approve after that, stage by stage. */
  then: NewStage[] | null;
  /** Whether whoever approves must sign with a passkey. */
  requireSignature: boolean | null;
};

export type Rule = People & {
  tools: string[];
  /** Texts at the outermost level of the input, each with the patterns of which one must fit. */
  where: Map<string, string[]>;
  action: Outcome;
  summary: string | null;
};

export type Rules = People & {
  /** The address of the Countersign service. */
  service: string;
  /** A file with the API key; without one, `COUNTERSIGN_API_KEY`. */
  keyFile: string | null;
  /** The person who works here: they never approve. */
  requestedBy: string | null;
  /** By which people may be asked; null is all. */
  channels: AskingChannel[] | null;
  /** For whom receipts are; null is the workspace. */
  audience: string[] | null;
  agentName: string | null;
  otherwise: Outcome;
  cursorPass: "nothing" | "allow";
  rules: Rule[];
};

/** The rules can't be used. Nothing passes. */
export class RulesError extends Error {}

/** Not in the project, where the agent writes and strangers commit. */
export function defaultRulesPath(): string {
  return join(homeFolder(), ".countersign", "hook.json");
}

/** As the system knows it. `HOME` is not asked: the settings of a project can set it, and bring rules of their own. */
export function homeFolder(): string {
  return userInfo().homedir;
}

export function readRules(path: string): Rules {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new RulesError(`the rules ${path} can't be read (${codeOf(error)})`);
  }
  try {
    return parseRules(text);
  } catch (error) {
    throw error instanceof RulesError ? new RulesError(`${path}: ${error.message}`) : error;
  }
}

export function parseRules(text: string): Rules {
  const file = readObject(parse(text), "the file", [
    "service",
    "keyFile",
    "notify",
    "quorum",
    "then",
    "requireSignature",
    "requestedBy",
    "channels",
    "audience",
    "agentName",
    "otherwise",
    "cursorPass",
    "rules",
  ]);
  const list = file.rules;
  if (!Array.isArray(list)) fail("rules must be a list");
  return {
    service: readService(file.service),
    keyFile: readPath(file.keyFile, "keyFile"),
    ...readPeople(file, ""),
    requestedBy: readOptionalText(file.requestedBy, "requestedBy"),
    channels: readChannels(file.channels),
    audience: file.audience === undefined ? null : readTexts(file.audience, "audience"),
    agentName: readOptionalText(file.agentName, "agentName"),
    otherwise: readChoice(file.otherwise, "otherwise", ["ask", "pass", "deny"]),
    cursorPass:
      file.cursorPass === undefined
        ? "nothing"
        : readChoice(file.cursorPass, "cursorPass", ["nothing", "allow"]),
    rules: list.map((rule, at) => readRule(rule, `rules[${at}]`)),
  };
}

function readRule(value: unknown, place: string): Rule {
  const rule = readObject(value, place, [
    ...["tools", "where", "action", "notify", "quorum", "then", "requireSignature", "summary"],
  ]);
  const action = readChoice(rule.action, `${place}.action`, ["ask", "pass", "deny"]);
  const summary = readOptionalText(rule.summary, `${place}.summary`);
  const problem = summary === null ? null : placeholderProblem(summary);
  if (problem !== null) fail(`${place}.summary: ${problem}`);
  const { notify, quorum, then, requireSignature } = rule;
  const isNamed = [notify, quorum, then, requireSignature].some((each) => each !== undefined);
  if (action !== "ask" && (summary !== null || isNamed)) {
    fail(`${place}: only a rule that asks has a summary, somebody to notify or signatures`);
  }
  return {
    tools: readTexts(rule.tools, `${place}.tools`),
    where: readWhere(rule.where, action, `${place}.where`),
    action,
    ...readPeople(rule, `${place}.`),
    summary,
  };
}

function readPeople(from: Record<string, unknown>, before: string): People {
  const { notify, quorum, then, requireSignature } = from;
  return {
    notify: readOptionalText(notify, `${before}notify`),
    quorum: readQuorum(quorum, `${before}quorum`),
    then: readStages(then, `${before}then`),
    requireSignature: readFlag(requireSignature, `${before}requireSignature`),
  };
}

function readQuorum(value: unknown, place: string): number | null {
  if (value === undefined) return null;
  const isCount = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 20;
  return isCount ? Number(value) : fail(`${place} must be a whole number from 1 to 20`);
}

function readFlag(value: unknown, place: string): boolean | null {
  if (value === undefined) return null;
  return typeof value === "boolean" ? value : fail(`${place} must be true or false`);
}

function readStages(value: unknown, place: string): NewStage[] | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) return fail(`${place} must be a list of stages`);
  return value.map((stage, at) => {
    const { notify, quorum } = readObject(stage, `${place}[${at}]`, ["notify", "quorum"]);
    const whom = readOptionalText(notify, `${place}[${at}].notify`);
    if (whom === null) return fail(`${place}[${at}].notify is missing`);
    return { notify: whom, quorum: readQuorum(quorum, `${place}[${at}].quorum`) };
  });
}

/** Strict, like all of the file: with a misspelt name every call would be refused. */
function readChannels(value: unknown): AskingChannel[] | null {
  if (value === undefined) return null;
  const names = readTexts(value, "channels");
  return names.map((name, at) => readChoice(name, `channels[${at}]`, askingChannels));
}

function readWhere(value: unknown, action: Outcome, place: string): Map<string, string[]> {
  if (value === undefined) return new Map();
  const where = new Map<string, string[]>();
  for (const [name, wanted] of Object.entries(readObject(value, place, null))) {
    const patterns = readTexts(typeof wanted === "string" ? [wanted] : wanted, `${place}.${name}`);
    // `git status*` also fits `git status; rm -rf ~`.
    if (action === "pass" && patterns.some((pattern) => pattern.includes("*"))) {
      fail(`${place}.${name}: a rule that lets pass names exact texts, without *`);
    }
    where.set(name, patterns);
  }
  if (where.size === 0) fail(`${place} is empty`);
  return where;
}

function readObject(
  value: unknown,
  place: string,
  known: readonly string[] | null,
): Record<string, unknown> {
  if (!isObject(value)) return fail(`${place} must be a JSON object`);
  const unknown = Object.keys(value).filter((key) => known !== null && !known.includes(key));
  if (unknown.length > 0) fail(`${place} has an unknown key: ${unknown.join(", ")}`);
  return value;
}

function readService(value: unknown): string {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return value as string;
  return fail("service must be the address of your Countersign service");
}

function readPath(value: unknown, place: string): string | null {
  const path = readOptionalText(value, place);
  if (path === null) return null;
  const full = path.startsWith("~/") ? join(homeFolder(), path.slice(2)) : path;
  return isAbsolute(full) ? full : fail(`${place} must be an absolute path, or begin with ~/`);
}

function readOptionalText(value: unknown, place: string): string | null {
  if (value === undefined) return null;
  return typeof value === "string" && value.trim() !== "" ? value : fail(`${place} must be a text`);
}

function readTexts(value: unknown, place: string): string[] {
  const isList = Array.isArray(value) && value.length > 0;
  if (!isList || !value.every((text) => typeof text === "string" && text !== "")) {
    return fail(`${place} must be a list of texts`);
  }
  return value;
}

function readChoice<Choice extends string>(
  value: unknown,
  place: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === value);
  return found ?? fail(`${place} must be one of ${choices.join(", ")}`);
}

/** As JSON, in which no key stands twice: the first of two would be silently dropped. */
function parse(text: string): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return fail("it is no JSON");
  }
  const repeated = repeatedKeyIn(text);
  return repeated === null ? parsed : fail(`it has the same key twice in one object: ${repeated}`);
}

function codeOf(error: unknown): string {
  return isObject(error) && typeof error.code === "string" ? error.code : "it failed";
}

function fail(message: string): never {
  throw new RulesError(message);
}
