// The Python SDK: its own tests run against the real service, on the shared vectors, and as a user installs it.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import * as sdk from "../../sdk/src/index.ts";
import { submittedFields } from "../../server/src/domain/shown/submitted-fields.ts";
import { type Control, startControl } from "./control.ts";
import { findPython, pythonRoot, skipsPython } from "./python.ts";

const execute = promisify(execFile);
const python = findPython() ?? "";
const modules = globSync("tests/test_*.py", { cwd: pythonRoot })
  .map((path) => path.replace(/\.py$/, "").replaceAll("/", "."))
  .sort();

describe("the Python SDK", skipsPython, () => {
  let control: Control;
  before(async () => {
    control = await startControl();
  });
  after(() => control.stop());

  for (const name of modules) {
    test(`${name} passes`, async () => {
      const { code, output } = await runTests([name], control.url);
      assert.equal(code, 0, output);
      assert.match(output, /^Ran \d+ tests? in/m);
      assert.doesNotMatch(output, /skipped=/, output);
    });
  }

  test("without the service its tests are skipped, and say so", async () => {
    const { code, output } = await runTests(["tests.test_gate", "tests.test_webhooks"], "");
    assert.equal(code, 0, output);
    assert.match(output, /skipped=\d+/);
  });

  test("it knows every field that a request can have, and every error of the TypeScript SDK", () => {
    const contract = readFileSync(join(pythonRoot, "src/countersign/contract.py"), "utf8");
    const known = [...contract.matchAll(/^ {4}"(\w+)": "(\w+)",$/gm)];
    const names = known.map(([, , name]) => name);
    assert.deepEqual(names, Object.keys(submittedFields), "add it to python/src/countersign");
    for (const [, own = "", name = ""] of known) {
      assert.equal(
        own.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase()),
        name,
      );
      assert.match(contract, new RegExp(`^    ${own}: `, "m"));
    }
    const surface = readFileSync(join(pythonRoot, "src/countersign/__init__.py"), "utf8");
    const errors = Object.keys(sdk).filter((name) => name.endsWith("Error"));
    assert.ok(errors.length > 8);
    for (const name of errors) assert.ok(surface.includes(`"${name}",`), name);
  });

  test("every module compiles without a warning", async () => {
    const sources = globSync("{src/countersign,tests}/**/*.py", { cwd: pythonRoot });
    assert.ok(sources.length > 15);
    const check =
      "import sys; [compile(open(p, encoding='utf-8').read(), p, 'exec') for p in sys.argv[1:]]";
    await execute(python, ["-W", "error", "-c", check, ...sources], { cwd: pythonRoot });
  });
});

async function runTests(
  names: string[],
  url: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(python, ["-W", "error", "-m", "unittest", ...names], {
    cwd: pythonRoot,
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: join(pythonRoot, "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONIOENCODING: "utf-8",
      COUNTERSIGN_TEST_CONTROL: url,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, output };
}
