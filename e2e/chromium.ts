// Finds the Chromium that the browser journeys run in: the one that CHROMIUM_PATH names, one on the PATH, one in a usual
// place of macOS, or else Debian's package, installed where that needs no password.

import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The plan for the browser journeys: run them in this program, or skip them and say why. */
export type ChromiumSearch = { path: string } | { path: null; reason: string };

export type Run = (
  command: string,
  args: readonly string[],
  timeoutMs: number,
) => Promise<{ code: number; output: string }>;

export type Surroundings = {
  environment: Record<string, string | undefined>;
  platform: string;
  isRoot: boolean;
  usualPlaces: readonly string[];
  run: Run;
  /** Shows a line to the person who waits. */
  tell: (line: string) => void;
};

export const noneFound =
  "No Chromium found: install one (Debian: apt-get install chromium) or set CHROMIUM_PATH; the browser tests are skipped.";
export const noneWanted = "No Chromium wanted (CHROMIUM_PATH=none); the browser tests are skipped.";

const names = [
  // The same engine without windows, tabs and extensions: the journeys take a quarter less of the processor in it.
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "msedge",
];
/** Debian's, the lighter one first. Older releases and Ubuntu don't have it. */
const packages = ["chromium-headless-shell", "chromium"];
const macPlaces = ["Chromium", "Google Chrome", "Microsoft Edge"].flatMap((name) =>
  ["/Applications", join(process.env.HOME ?? "/", "Applications")].map((folder) =>
    join(folder, `${name}.app`, "Contents", "MacOS", name),
  ),
);
/** These only end a hang: a slow machine takes its time. */
const askTimeoutMs = 300_000;
const installTimeoutMs = 900_000;
/** How long another installation that is under way may hold up ours. */
const lockSeconds = 300;
const outputBytesMax = 16 * 1024 * 1024;

/** Throws when CHROMIUM_PATH names something that doesn't run: the person who set it wants to know. */
export async function findChromium(
  surroundings: Surroundings = thisMachine(),
): Promise<ChromiumSearch> {
  const { environment, platform, usualPlaces, run } = surroundings;
  const given = environment.CHROMIUM_PATH ?? "";
  if (given === "none") return { path: null, reason: noneWanted };
  if (given !== "") return { path: await checkGiven(given, run) };
  const there = await firstThatRuns([...onPath(environment.PATH), ...usualPlaces], run);
  if (there !== null) return { path: there };
  if (platform !== "linux" || !(await install(surroundings))) {
    return { path: null, reason: noneFound };
  }
  const installed = await firstThatRuns([...onPath(environment.PATH), "/usr/bin/chromium"], run);
  return installed === null ? { path: null, reason: noneFound } : { path: installed };
}

function thisMachine(): Surroundings {
  return {
    environment: process.env,
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    usualPlaces: process.platform === "darwin" ? macPlaces : [],
    run: runProgram,
    tell: (line) => process.stdout.write(`${line}\n`),
  };
}

async function checkGiven(path: string, run: Run): Promise<string> {
  const howTo = "Name the program itself, or leave CHROMIUM_PATH empty to have one looked for.";
  if (!isAbsolute(path)) throw new Error(`CHROMIUM_PATH must be an absolute path. ${howTo}`);
  if (!isExecutable(path)) throw new Error(`CHROMIUM_PATH: there is no program ${path}. ${howTo}`);
  if (await isChromium(path, run)) return path;
  throw new Error(`CHROMIUM_PATH: ${path} --version does not answer as a Chromium. ${howTo}`);
}

/** The better name wins over the earlier folder. */
function onPath(path = ""): string[] {
  const folders = path.split(delimiter).filter(isAbsolute);
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}

async function firstThatRuns(paths: readonly string[], run: Run): Promise<string | null> {
  for (const path of paths) {
    if (isExecutable(path) && (await isChromium(path, run))) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Some names are scripts that only tell how to install the program. */
async function isChromium(path: string, run: Run): Promise<boolean> {
  const { code, output } = await run(path, ["--version"], askTimeoutMs);
  return code === 0 && /\b(Chromium|Chrome|Edge)\b.* [0-9]+\./.test(output);
}

/** Only where nobody has to be asked for a password. */
async function install({ isRoot, run, tell }: Surroundings): Promise<boolean> {
  if ((await run("apt-get", ["--version"], askTimeoutMs)).code !== 0) return false;
  if (!isRoot && (await run("sudo", ["-n", "true"], askTimeoutMs)).code !== 0) return false;
  tell("Installing Chromium for the browser tests (CHROMIUM_PATH=none does without) …");
  const end = performance.now() + installTimeoutMs;
  const aptGet = (...words: string[]) => {
    const secondsLeft = Math.max(1, Math.ceil((end - performance.now()) / 1_000));
    const [command = "", ...args] = [
      ...(isRoot ? [] : ["sudo", "-n"]),
      // Inside sudo, because nobody but root may end what root runs.
      ...["timeout", "--kill-after=10", String(secondsLeft)],
      ...["env", "DEBIAN_FRONTEND=noninteractive"],
      ...["apt-get", "-o", `DPkg::Lock::Timeout=${lockSeconds}`, ...words],
    ];
    return run(command, args, 2 * installTimeoutMs);
  };
  // One source of packages that is out of reach need not be the one that matters.
  await aptGet("update");
  const results: { code: number; output: string }[] = [];
  for (const name of packages) {
    const result = await aptGet("install", "-y", "--no-install-recommends", name);
    if (result.code === 0) return true;
    results.push(result);
  }
  tell(`Installing Chromium failed: ${results.at(-1)?.output.trim().split("\n").at(-1)}`);
  return false;
}

export function runProgram(command: string, args: readonly string[], timeoutMs: number) {
  return new Promise<{ code: number; output: string }>((resolve) => {
    const options = { timeout: timeoutMs, maxBuffer: outputBytesMax };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, output: `${stdout}${stderr}` });
    });
    child.stdin?.end();
  });
}
