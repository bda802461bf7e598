// The inputs of the action and what the runner says about the run, checked before anybody is asked.

import type { AskingChannel, CreateRequest } from "../../sdk/src/contract.ts";
import { describeFlaw, scanJsonValue } from "../../server/src/domain/shown/json-text.ts";
import { ExactJson } from "./exact-json.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Job = {
  service: { baseUrl: string; apiKey: string };
  /** Without `notify`, the workspace's default approver is asked. */
  question: Omit<CreateRequest<ExactJson>, "notify"> & { notify?: string };
  timeoutMinutes: number;
  /** Names this step of this run. Jobs of a matrix have the same job id, and other values. */
  step: string[];
  /** Counted by GitHub: 2 is the first time that the run is run again. */
  attempt: number;
};

export function readJob(env: Environment): Job {
  const timeoutMinutes = readTimeout(input(env, "timeout-minutes"));
  const server = runnerVariable(env, "GITHUB_SERVER_URL");
  const repository = runnerVariable(env, "GITHUB_REPOSITORY");
  const runId = runnerVariable(env, "GITHUB_RUN_ID");
  const step = [runnerVariable(env, "GITHUB_JOB"), runnerVariable(env, "GITHUB_ACTION")];
  const run = `${server}/${repository}/actions/runs/${runId}`;
  const payload = readPayload(input(env, "payload"));
  const notify = input(env, "notify");
  const { GITHUB_WORKFLOW: workflow = "", GITHUB_REF: ref = "", GITHUB_SHA: sha = "" } = env;
  const { GITHUB_ACTOR: actor = "" } = env;
  return {
    service: readService(env),
    question: {
      summary: required(env, "summary"),
      ...(payload === null ? {} : { payload }),
      ...(notify === "" ? {} : { notify }),
      ...readPeople(env),
      ...readChannels(input(env, "channels")),
      ...readProof(env),
      reasoning:
        input(env, "reasoning") ||
        cut(`Workflow ${workflow} at ${ref} (${sha}), started by ${actor}.\n${run}`, 2_000),
      agentName: input(env, "agent-name") || cut(`GitHub Actions: ${repository}`, 100),
      metadata: { run, workflow, job: step[0], ref, sha, actor },
      ttlMinutes: timeoutMinutes,
    },
    timeoutMinutes,
    step: [run, ...step, input(env, "matrix")],
    attempt: readAttempt(runnerVariable(env, "GITHUB_RUN_ATTEMPT")),
  };
}

export function readService(env: Environment): Job["service"] {
  return { baseUrl: required(env, "url"), apiKey: required(env, "api-key") };
}

/** Whether anybody on the way could read the key, and answer in the service's name. */
export function isPlain(url: string): boolean {
  const { protocol = "", hostname = "" } = URL.parse(url) ?? {};
  return protocol === "http:" && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** As the runner names it: only spaces become underscores. */
export function input(env: Environment, name: string): string {
  return (env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`] ?? "").trim();
}

function required(env: Environment, name: string): string {
  const value = input(env, name);
  if (value !== "") return value;
  throw new Error(
    name === "api-key"
      ? "The input api-key is empty. GitHub gives no secrets to workflows of forks, and none for a name that does not exist."
      : `The input ${name} is empty.`,
  );
}

function readPayload(text: string): ExactJson | null {
  if (text === "") return null;
  const scanned = scanJsonValue(text);
  if (scanned.kind === "malformed") {
    throw new Error(
      `The input payload is not JSON: ${scanned.message} (at character ${scanned.at + 1}).`,
    );
  }
  if (scanned.flaw === null) return new ExactJson(text);
  throw new Error(`The input payload: ${scanned.flaw.path} ${describeFlaw(scanned.flaw)}.`);
}

/** Only what was given, so that other questions stay as they are. The service says what is wrong with them. */
function readPeople(env: Environment): Pick<CreateRequest, "quorum" | "then" | "requestedBy"> {
  const requestedBy = input(env, "requested-by");
  return {
    ...readQuorum(input(env, "quorum")),
    ...readList(env, "then"),
    ...(requestedBy === "" ? {} : { requestedBy }),
    ...readList(env, "escalate"),
  };
}

function readQuorum(text: string): { quorum?: number } {
  if (text === "") return {};
  if (/^\d{1,2}$/.test(text)) return { quorum: Number(text) };
  throw new Error("The input quorum must be a whole number from 1 to 20.");
}

function readList(env: Environment, name: "then" | "escalate"): object {
  const text = input(env, name);
  if (text === "") return {};
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    list = null;
  }
  if (Array.isArray(list)) return { [name]: list };
  throw new Error(`The input ${name} must be a list in JSON, such as [{"notify": "cfo@…"}].`);
}

/** The service says which it knows. */
function readChannels(text: string): Pick<CreateRequest, "channels"> {
  if (text === "") return {};
  return { channels: namesIn(text) as AskingChannel[] };
}

function readProof(env: Environment): Pick<CreateRequest, "audience" | "requireSignature"> {
  const audience = namesIn(input(env, "audience"));
  return {
    ...(audience.length === 0 ? {} : { audience }),
    ...readFlag(input(env, "require-signature")),
  };
}

function readFlag(text: string): Pick<CreateRequest, "requireSignature"> {
  if (text === "") return {};
  if (text === "true" || text === "false") return { requireSignature: text === "true" };
  throw new Error("The input require-signature must be true or false.");
}

function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function readTimeout(text: string): number {
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (minutes >= 5 && minutes <= 10_080) return minutes;
  throw new Error("The input timeout-minutes must be a whole number from 5 to 10080.");
}

function readAttempt(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Error("GITHUB_RUN_ATTEMPT is no number.");
}

/** Without them, another run could get this run's approval. */
function runnerVariable(env: Environment, name: string): string {
  const value = env[name] ?? "";
  if (value === "") throw new Error(`${name} is not set. This runs in GitHub Actions only.`);
  return value;
}

function cut(text: string, charactersMax: number): string {
  return [...text].slice(0, charactersMax).join("");
}
