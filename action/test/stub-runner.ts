// A stand-in for the runner of GitHub Actions, written from its source (github.com/actions/runner): how inputs become
// variables, how files of outputs and state are read (FileCommandManager.cs), and which lines of the log are commands
// (ActionCommand.cs). It runs the action by the entry point that action.yml names.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..", "..");
export const folder = mkdtempSync(join(tmpdir(), "countersign-action-"));

/** The action as somebody gets it from the service: unpacked into their repository. */
export async function unpack(): Promise<string> {
  const place = join(folder, ".github", "actions", "countersign");
  mkdirSync(place, { recursive: true });
  const packed = join(root, "web", "dist", "packages", "countersign-action-0.1.0.tgz");
  await promisify(execFile)("tar", ["xzf", packed, "--strip-components=1", "-C", place]);
  return place;
}

export type StepOptions = {
  with: Record<string, string>;
  attempt?: number;
  runId?: string;
  step?: string;
  matrix?: string;
  env?: Record<string, string>;
  /** Options of Node, such as a limit of memory. */
  node?: string[];
};

export type StepResult = {
  isSuccess: boolean;
  code: number | null;
  outputs: Record<string, string>;
  state: Record<string, string>;
  summary: string;
  log: string;
  commands: Command[];
  masks: string[];
};

export type Step = { child: ChildProcess; ended: Promise<StepResult> };

type Manifest = { text: string; main: string; post: string };

function readManifest(place: string): Manifest {
  const text = readFileSync(join(place, "action.yml"), "utf8");
  const runs = (name: string) => new RegExp(`^ {2}${name}: (.+)$`, "m").exec(text)?.[1] ?? "";
  if (runs("using") !== "node24") throw new Error(`no such runtime here: ${runs("using")}`);
  return { text, main: runs("main"), post: runs("post") };
}

/** The inputs of a manifest with their defaults; the runner gives every one of them to the step. */
function defaultsOf({ text }: Manifest, matrix: string): Record<string, string> {
  const [, block = ""] = /^inputs:\n([\s\S]*?)^outputs:/m.exec(text) ?? [];
  const inputs = [...block.matchAll(/^ {2}([\w-]+):\n((?: {4}.*\n)+)/gm)];
  return Object.fromEntries(
    inputs.map(([, name = "", facts = ""]) => {
      const [, value = ""] = /^ {4}default: (.*)$/m.exec(facts) ?? [];
      const evaluated = value.replace(/\$\{\{ toJSON\(matrix\) \}\}/, matrix);
      return [name, /^".*"$/.test(evaluated) ? JSON.parse(evaluated) : evaluated];
    }),
  );
}

export function runStep(place: string, options: StepOptions): Step {
  return start(place, "main", options, {});
}

/** What the runner starts when the job ends. */
export function runPost(place: string, options: StepOptions, main: StepResult): Step {
  return start(place, "post", options, main.state);
}

function start(
  place: string,
  stage: "main" | "post",
  options: StepOptions,
  state: Record<string, string>,
): Step {
  const manifest = readManifest(place);
  const files = {
    GITHUB_OUTPUT: emptyFile(),
    GITHUB_STATE: emptyFile(),
    GITHUB_STEP_SUMMARY: emptyFile(),
  };
  const inputs = { ...defaultsOf(manifest, options.matrix ?? "null"), ...options.with };
  const env = {
    ...runnerVariables(options),
    ...named(inputs, (name) => `INPUT_${name.replaceAll(" ", "_").toUpperCase()}`),
    ...files,
    ...options.env,
    // Last, as in ActionRunner.cs: a variable of the job counts where the step has saved nothing of that name.
    ...named(state, (name) => `STATE_${name}`),
  };
  const program = join(place, manifest[stage]);
  const child = spawn(process.execPath, [...(options.node ?? []), program], { env, cwd: folder });
  let log = "";
  child.stdout.on("data", (chunk) => {
    log += chunk;
  });
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const ended = new Promise<StepResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const commands = log.split(/\r\n|\r|\n/).flatMap((line) => commandIn(line) ?? []);
      resolve({
        isSuccess: code === 0,
        code,
        outputs: readFields(readFileSync(files.GITHUB_OUTPUT, "utf8")),
        state: readFields(readFileSync(files.GITHUB_STATE, "utf8")),
        summary: readFileSync(files.GITHUB_STEP_SUMMARY, "utf8"),
        log,
        commands,
        masks: commands.filter(({ name }) => name === "add-mask").map(({ data }) => data),
      });
    });
  });
  return { child, ended };
}

function runnerVariables({ attempt = 1, runId = randomUUID(), step }: StepOptions) {
  const { PATH = "" } = process.env;
  return {
    PATH,
    GITHUB_ACTIONS: "true",
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_RUN_ID: runId,
    GITHUB_RUN_ATTEMPT: String(attempt),
    GITHUB_JOB: "deploy",
    GITHUB_ACTION: step ?? "__self",
    GITHUB_WORKFLOW: "Deploy",
    GITHUB_REF: "refs/heads/main",
    GITHUB_SHA: "f0e1d2c3b4a5968778695a4b3c2d1e0ff0e1d2c3",
    GITHUB_ACTOR: "ann",
  };
}

function named(values: Record<string, string>, name: (each: string) => string) {
  return Object.fromEntries(Object.entries(values).map(([each, value]) => [name(each), value]));
}

function emptyFile(): string {
  const path = join(folder, randomUUID());
  writeFileSync(path, "");
  return path;
}

export type Command = { name: string; data: string };

const commandNames = [
  "add-mask",
  "add-matcher",
  "add-path",
  "debug",
  "echo",
  "endgroup",
  "error",
  "group",
  "notice",
  "save-state",
  "set-env",
  "set-output",
  "stop-commands",
  "warning",
];

/** `::name properties::data` at the start of a line, or `##[name properties]data` anywhere in it. */
export function commandIn(line: string): Command | null {
  const [, newer, data = ""] = /^\s*::(.*?)::(.*)$/s.exec(line) ?? [];
  const [, older, olderData = ""] = /##\[(.*?)\](.*)$/s.exec(line) ?? [];
  for (const [info, value] of [
    [newer, data],
    [older, olderData],
  ]) {
    const [name = ""] = (info ?? "").split(" ");
    if (info !== undefined && commandNames.includes(name)) {
      return { name, data: unescapeData(value ?? "") };
    }
  }
  return null;
}

function unescapeData(text: string): string {
  return text.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%");
}

/** `name=value`, or `name<<delimiter`, lines, and the delimiter alone. The last one of a name counts. */
export function readFields(text: string): Record<string, string> {
  const fields: Record<string, string> = {};
  const lines = text.split(/\r\n|\r|\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const equals = line.indexOf("=");
    const heredoc = line.indexOf("<<");
    if (line === "") continue;
    if (heredoc > 0 && (equals < 0 || heredoc < equals)) {
      const delimiter = line.slice(heredoc + 2);
      const end = lines.indexOf(delimiter, at + 1);
      if (delimiter === "" || end < 0) throw new Error(`no end of ${line}`);
      fields[line.slice(0, heredoc)] = lines.slice(at + 1, end).join("\n");
      at = end;
    } else if (equals > 0) fields[line.slice(0, equals)] = line.slice(equals + 1);
    else throw new Error(`the runner can't read ${line}`);
  }
  return fields;
}
