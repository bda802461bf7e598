import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findChromium, noneFound, noneWanted, runProgram, type Surroundings } from "./chromium.ts";

const folder = mkdtempSync(join(tmpdir(), "cs-chromium-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const working = "#!/bin/sh\necho Chromium 140.0.7339.80 built on a test\n";
/** Ubuntu puts this in a browser's place. */
const broken = "#!/bin/sh\necho 'requires the chromium snap to be installed' >&2\nexit 10\n";

let folders = 0;

/** A new folder with these programs in it. */
function folderWith(programs: Record<string, string>): string {
  folders += 1;
  const made = join(folder, String(folders));
  mkdirSync(made);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(made, name), text, { mode: 0o755 });
  }
  return made;
}

/** A machine on which nothing can be installed, unless the test says so. */
function machine(changes: Partial<Surroundings> = {}) {
  const asked: string[] = [];
  const told: string[] = [];
  const surroundings: Surroundings = {
    environment: {},
    platform: "linux",
    isRoot: true,
    usualPlaces: [],
    run: async (command, args, timeoutMs) => {
      asked.push([command, ...args].join(" "));
      // Only the test's own programs are run: nothing is installed here.
      if (command.startsWith(folder)) return runProgram(command, args, timeoutMs);
      return { code: -1, output: "" };
    },
    tell: (line) => told.push(line),
    ...changes,
  };
  return { surroundings, asked, told };
}

/** A machine whose apt-get works, with what it installs. */
function debian({ isRoot = true, hasSudo = true, fails = false, isOld = false } = {}) {
  const path = folderWith({});
  const asked: string[] = [];
  const run: Surroundings["run"] = async (command, args, timeoutMs) => {
    const line = [command, ...args].join(" ");
    if (command.startsWith(folder)) return runProgram(command, args, timeoutMs);
    asked.push(line.replace(/ [0-9]+ env /, " SECONDS env "));
    if (command === "sudo" && !hasSudo) return { code: 1, output: "a password is required" };
    const name = / (chromium\S*)$/.exec(line)?.[1];
    if (name === undefined) return { code: 0, output: "" };
    if (fails || (isOld && name !== "chromium")) {
      return { code: 100, output: `Reading…\nE: Unable to locate package ${name}\n` };
    }
    writeFileSync(join(path, name), working, { mode: 0o755 });
    return { code: 0, output: "" };
  };
  const { surroundings, told } = machine({ environment: { PATH: path }, isRoot, run });
  return { surroundings, told, asked, path };
}

const aptGet =
  "timeout --kill-after=10 SECONDS env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300";

test("CHROMIUM_PATH wins over the PATH", async () => {
  const onPath = folderWith({ chromium: working });
  const given = join(folderWith({ mine: working }), "mine");
  const { surroundings } = machine({ environment: { PATH: onPath, CHROMIUM_PATH: given } });
  assert.deepEqual(await findChromium(surroundings), { path: given });
});

test("one without windows is preferred, because it does less that nobody sees", async () => {
  const path = folderWith({ chromium: working, "chromium-headless-shell": working });
  const { surroundings } = machine({ environment: { PATH: path } });
  assert.deepEqual(await findChromium(surroundings), {
    path: join(path, "chromium-headless-shell"),
  });
});

test("a CHROMIUM_PATH that is missing, broken or relative is an error that names it, whatever else is there", async () => {
  const path = folderWith({ chromium: working, broken });
  const find = (given: string) =>
    findChromium(machine({ environment: { PATH: path, CHROMIUM_PATH: given } }).surroundings);
  await assert.rejects(find(join(path, "missing")), /CHROMIUM_PATH: there is no program .*missing/);
  await assert.rejects(find(join(path, "broken")), /CHROMIUM_PATH: .*broken --version does not/);
  await assert.rejects(find("chromium"), /CHROMIUM_PATH must be an absolute path/);
});

test("CHROMIUM_PATH=none skips, though one is there, and runs nothing", async () => {
  const environment = { PATH: folderWith({ chromium: working }), CHROMIUM_PATH: "none" };
  const { surroundings, asked } = machine({ environment });
  assert.deepEqual(await findChromium(surroundings), { path: null, reason: noneWanted });
  assert.deepEqual(asked, []);
});

test("an empty CHROMIUM_PATH counts as not set", async () => {
  const path = folderWith({ chromium: working });
  const { surroundings } = machine({ environment: { PATH: path, CHROMIUM_PATH: "" } });
  assert.deepEqual(await findChromium(surroundings), { path: join(path, "chromium") });
});

test("on the PATH chromium comes before the others, and an earlier folder before a later one", async () => {
  const first = folderWith({ "google-chrome": working });
  const second = folderWith({ "google-chrome": working, chromium: working });
  const third = folderWith({ chromium: working });
  const find = (...paths: string[]) =>
    findChromium(machine({ environment: { PATH: paths.join(":") } }).surroundings);
  assert.deepEqual(await find(first, second, third), { path: join(second, "chromium") });
  assert.deepEqual(await find(third, second), { path: join(third, "chromium") });
  assert.deepEqual(await find(first), { path: join(first, "google-chrome") });
});

test("whatever does not run, or is no browser, is passed over", async () => {
  const path = folderWith({
    chromium: broken,
    "chromium-browser": "#!/bin/sh\necho hello\n",
    "google-chrome": "#!/no/such/interpreter\n",
    "google-chrome-stable": "#!/bin/sh\necho Google Chrome 140.0.7339.80\n",
  });
  const { surroundings } = machine({ environment: { PATH: `relative::${path}` } });
  assert.deepEqual(await findChromium(surroundings), { path: join(path, "google-chrome-stable") });
});

test("a usual place is looked at after the PATH", async () => {
  const place = join(folderWith({ "Google Chrome": working }), "Google Chrome");
  const path = folderWith({ chrome: working });
  const find = (PATH: string) =>
    findChromium(
      machine({ environment: { PATH }, platform: "darwin", usualPlaces: [place] }).surroundings,
    );
  assert.deepEqual(await find(path), { path: join(path, "chrome") });
  assert.deepEqual(await find(folderWith({})), { path: place });
});

test("where none can be had the reason says what to do, in one line", async () => {
  for (const changes of [{}, { platform: "darwin" }, { isRoot: false }]) {
    const { surroundings, told } = machine({ environment: { PATH: folderWith({}) }, ...changes });
    assert.deepEqual(await findChromium(surroundings), { path: null, reason: noneFound });
    assert.deepEqual(told, []);
  }
  assert.match(noneFound, /^[^\n]*apt-get install chromium[^\n]*CHROMIUM_PATH[^\n]*skipped\.$/);
});

test("on Debian root installs the package, after saying so", async () => {
  const { surroundings, asked, told, path } = debian();
  const installed = join(path, "chromium-headless-shell");
  assert.deepEqual(await findChromium(surroundings), { path: installed });
  assert.deepEqual(asked, [
    "apt-get --version",
    `${aptGet} update`,
    `${aptGet} install -y --no-install-recommends chromium-headless-shell`,
  ]);
  assert.deepEqual(told, [
    "Installing Chromium for the browser tests (CHROMIUM_PATH=none does without) …",
  ]);
});

test("where Debian has none without windows the whole one is installed", async () => {
  const { surroundings, asked, path } = debian({ isOld: true });
  assert.deepEqual(await findChromium(surroundings), { path: join(path, "chromium") });
  assert.deepEqual(asked.at(-1), `${aptGet} install -y --no-install-recommends chromium`);
});

test("others install it when sudo asks for no password, and not otherwise", async () => {
  const allowed = debian({ isRoot: false });
  assert.deepEqual(await findChromium(allowed.surroundings), {
    path: join(allowed.path, "chromium-headless-shell"),
  });
  assert.deepEqual(allowed.asked, [
    "apt-get --version",
    "sudo -n true",
    `sudo -n ${aptGet} update`,
    `sudo -n ${aptGet} install -y --no-install-recommends chromium-headless-shell`,
  ]);
  const refused = debian({ isRoot: false, hasSudo: false });
  assert.deepEqual(await findChromium(refused.surroundings), { path: null, reason: noneFound });
  assert.deepEqual(refused.asked, ["apt-get --version", "sudo -n true"]);
});

test("an installation that fails says why, and skips", async () => {
  const { surroundings, told } = debian({ fails: true });
  assert.deepEqual(await findChromium(surroundings), { path: null, reason: noneFound });
  assert.equal(told[1], "Installing Chromium failed: E: Unable to locate package chromium");
});
