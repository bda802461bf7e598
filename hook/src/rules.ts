// The rules file: which tools ask, whom, and with which summary. It is read strictly, because a misspelt rule that is
// skipped would let a call pass.

import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { repeatedKeyIn } from "./repeated-keys.ts";
import { placeholderProblem } from "./summary.ts";
import { isObject } from "./tool-call.ts";

export type Outcome = "ask" | "pass" | "deny";

export type Rule = {
  tools: string[];
  /** Texts at the outermost level of the input, each with the patterns of which one must fit. */
  where: Map<string, string[]>;
  action: Outcome;
  notify: string | null;
  summary: string | null;
};

export type Rules = {
  /** The address of the Countersign service. */
  service: string;
  /** A file with the API key; without one, `COUNTERSIGN_API_KEY`. */
  keyFile: string | null;
  notify: string | null;
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
    notify: readOptionalText(file.notify, "notify"),
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
  const rule = readObject(value, place, ["tools", "where", "action", "notify", "summary"]);
  const action = readChoice(rule.action, `${place}.action`, ["ask", "pass", "deny"]);
  const summary = readOptionalText(rule.summary, `${place}.summary`);
  const problem = summary === null ? null : placeholderProblem(summary);
  if (problem !== null) fail(`${place}.summary: ${problem}`);
  if (action !== "ask" && (summary !== null || rule.notify !== undefined)) {
    fail(`${place}: only a rule that asks has a summary or somebody to notify`);
  }
  return {
    tools: readTexts(rule.tools, `${place}.tools`),
    where: readWhere(rule.where, action, `${place}.where`),
    action,
    notify: readOptionalText(rule.notify, `${place}.notify`),
    summary,
  };
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
