// The packed hook in a fresh folder, as somebody gets it from the service: `npm install`, a rules file, and a stub of each
// harness that runs the documented command.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { serve } from "../../sdk/test/served.ts";
import { harnesses } from "../src/harnesses.ts";
import type { HarnessName } from "../src/tool-call.ts";
import { folder, guard } from "./guarded.ts";
import { pageOf } from "./stub-harness.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const project = join(folder, "fresh");
const served = await serve();

before(async () => {
  await mkdir(project, { recursive: true });
  await writeFile(join(project, "package.json"), '{"private":true}');
  const packed = join(root, "web", "dist", "packages", "countersign-hook-0.1.0.tgz");
  const { PATH = "" } = process.env;
  const options = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await execute("npm", ["install", ...options, packed], {
    cwd: project,
    env: { PATH, HOME: folder },
  });
});

after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

test("in a fresh folder, each harness runs the documented command, and the tool once it is approved", async () => {
  for (const name of Object.keys(harnesses) as HarnessName[]) {
    const page = readFileSync(pageOf(name), "utf8");
    const documented = new RegExp(
      `"command": "(sh -c 'countersign-hook --format ${name} .*)",?\\n`,
    );
    const command: string = JSON.parse(`"${documented.exec(page)?.[1]}"`);
    const guarded = await guard(served);
    const env = {
      ...guarded.env,
      PATH: `${join(project, "node_modules", ".bin")}:${guarded.env.PATH}`,
    };
    const rules = command.replace(" --wait", ` --rules ${guarded.rulesPath} --wait`);
    assert.notEqual(rules, command);
    const options = { command: rules, env, hasNoShellGuard: true };
    const run = guarded.run(name, "git push", options);
    await served.approve(await guarded.asked());
    assert.equal((await run.outcome).ran, true, name);
    const denied = guarded.run(name, "git push", {
      ...options,
      env: { ...env, COUNTERSIGN_API_KEY: "" },
    });
    assert.equal((await denied.outcome).ran, false, name);
  }
});
