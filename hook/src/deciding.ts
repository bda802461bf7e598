// What becomes of one call: an answer right away, or a job for the process that asks.

import { readFileSync, realpathSync } from "node:fs";
import type { Job } from "./asking.ts";
import { choose } from "./choosing.ts";
import { harnesses } from "./harnesses.ts";
import { type Rules, RulesError } from "./rules.ts";
import { reasoningOf, summaryOf } from "./summary.ts";
import type { ToolCall, Verdict } from "./tool-call.ts";

export type DecidingOptions = {
  rulesPath: string;
  isDeferring: boolean;
  /** `COUNTERSIGN_API_KEY`. */
  apiKey: string | null;
  /** `SHELL`. */
  shell: string | null;
  /** All the time that there is for this call, and what is left of it. */
  waitSeconds: number;
  leftMs: number;
};

/** For starting, cancelling and redeeming, out of the time that there is. */
const reserveMsMax = 8_000;

export function decide(
  call: ToolCall,
  inexact: string | null,
  rules: Rules,
  options: DecidingOptions,
): { verdict: Verdict } | { job: Job } {
  const own = { rules: namesOf(options.rulesPath), key: rules.keyFile };
  const choice = choose(call, rules, own);
  if (choice.action === "pass") {
    return { verdict: { kind: "pass", saysAllow: rules.cursorPass === "allow" } };
  }
  if (choice.action === "deny") return deny(`The rules of this machine forbid ${call.tool}.`);
  if (inexact !== null) {
    return deny(
      `The input holds the number ${inexact}, which nobody would see exactly. It was not carried out. Send it as text.`,
    );
  }
  const unsafe = options.isDeferring ? unsafeDefer(call) : null;
  if (unsafe !== null) return deny(unsafe);
  const { title } = harnesses[call.harness];
  const { waitSeconds, leftMs } = options;
  const job: Job = {
    call,
    service: rules.service,
    apiKey: readKey(rules, options.apiKey),
    notify: choice.rule?.notify ?? rules.notify,
    people: {
      ...given("quorum", choice.rule?.quorum ?? rules.quorum),
      ...given("then", choice.rule?.then ?? rules.then),
      ...given("requestedBy", rules.requestedBy),
      ...given("channels", rules.channels),
      ...given("audience", rules.audience),
      ...given("requireSignature", choice.rule?.requireSignature ?? rules.requireSignature),
    },
    words: {
      summary: summaryOf(call, choice.rule?.summary ?? null, title),
      reasoning: reasoningOf(call, title, choice.isOwnSettings),
      agentName: rules.agentName ?? title,
    },
    // From what is configured, and not from what is left: a hook that is started again must ask the same.
    ttlMinutes: Math.min(10_080, Math.max(5, Math.ceil(waitSeconds / 60))),
    waitMs: Math.max(0, leftMs - Math.min(reserveMsMax, leftMs / 3)),
    isDeferring: options.isDeferring,
    shell: options.shell,
  };
  return { job };
}

/** A link's own name, and the file that it leads to. */
function namesOf(path: string): string[] {
  return [...new Set([path, realpathSync(path)])];
}

/** Only what the rules say, so that other questions stay as they are. */
function given<Name extends string, Value>(name: Name, value: Value | null) {
  return (value === null ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

function deny(reason: string): { verdict: Verdict } {
  return { verdict: { kind: "deny", reason } };
}

/** Claude Code falls back to its own gate where it can't defer, and in the other modes that lets calls pass. */
function unsafeDefer({ harness, mode }: ToolCall): string | null {
  if (harness !== "claude") return "--defer is for Claude Code alone. It was not carried out.";
  if (mode === "default" || mode === "dontAsk" || mode === "plan") return null;
  return `This action needs an approval, and in the permission mode ${mode ?? "of this session"} it can't be deferred safely. It was not carried out.`;
}

export function readKey({ keyFile }: Rules, fromEnvironment: string | null): string {
  if (keyFile === null) {
    if (fromEnvironment !== null) return fromEnvironment;
    throw new RulesError("there is no API key: set COUNTERSIGN_API_KEY, or keyFile in the rules");
  }
  try {
    return readFileSync(keyFile, "utf8").trim();
  } catch {
    throw new RulesError(`the key file ${keyFile} can't be read`);
  }
}
