// Virtual environments with exactly the packages that a list of versions names, made once for a clone.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { findPython, pythonRoot } from "./python.ts";

export const pythonTools = join(pythonRoot, ".tools");
const uv = "uv==0.13.8";

/** The environment's Python. Null where there is no Python, or PyPI isn't within reach. */
export async function pythonWith(requirements: string): Promise<string | null> {
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const place = join(pythonTools, `${basename(requirements, ".txt")}-${digest}`);
  const python = join(place, "bin", "python");
  if (existsSync(python)) return python;
  const program = findPython();
  if (program === null) return null;
  const making = `${place}.${process.pid}`;
  const folder = await mkdtemp(join(tmpdir(), "countersign-python-"));
  try {
    await makeEnvironment({ program, making, requirements, folder });
    await rename(making, place);
    return python;
  } catch {
    return null;
  } finally {
    await rm(making, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Making = { program: string; making: string; requirements: string; folder: string };

async function makeEnvironment({ program, making, requirements, folder }: Making): Promise<void> {
  const options = {
    cwd: folder,
    env: { ...process.env, HOME: folder, UV_CACHE_DIR: join(folder, "uv") },
  };
  const execute = (command: string, words: string[]) =>
    promisify(execFile)(command, words, options);
  const [pip, installer] = ["pip", "uv"].map((name) => join(folder, "installer", "bin", name)) as [
    string,
    string,
  ];
  await mkdir(pythonTools, { recursive: true });
  await execute(program, ["-m", "venv", join(folder, "installer")]);
  await execute(pip, ["install", "--quiet", "--only-binary", ":all:", uv]);
  await execute(installer, ["venv", "--quiet", "--relocatable", "--python", program, making]);
  const words = ["pip", "install", "--quiet", "--only-binary", ":all:", "--no-deps"];
  const target = ["--python", join(making, "bin", "python"), "-r", requirements];
  await execute(installer, [...words, ...target]);
}
