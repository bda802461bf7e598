// The Python adapters with the real frameworks from PyPI, in environments of their own: each against the real service,
// with processes that are killed between asking and deciding, and each as its part of the documentation shows it.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { codeBlocksOf } from "../../docs/test/code-block.ts";
import { type Control, startControl } from "./control.ts";
import { pythonTools, pythonWith } from "./environment.ts";
import { findPython, pythonRoot, skipsPython } from "./python.ts";

/** CrewAI pins older versions of what the others need, and is larger than all of them. */
const environments = {
  frameworks: ["langgraph", "pydantic_ai", "openai_agents", "claude_agent", "native_gates"],
  crewai: ["crewai"],
};
const folder = await mkdtemp(join(tmpdir(), "countersign-adapters-"));
after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const settings = {
  PATH: process.env.PATH,
  HOME: folder,
  PYTHONIOENCODING: "utf-8",
  PYTHONPATH: join(pythonRoot, "src"),
  PYTHONPYCACHEPREFIX: join(pythonTools, "pycache"),
};

describe("the Python adapters", skipsPython, () => {
  let control: Control;
  before(async () => {
    control = await startControl();
  });
  after(() => control.stop());

  test("no framework is imported by the SDK itself, nor by the package of the adapters", async () => {
    const check =
      "import sys, countersign, countersign.adapters; sys.exit(any(n.partition('.')[0] in ('pydantic', 'langgraph', 'agents', 'crewai') for n in sys.modules))";
    await promisify(execFile)(findPython() ?? "", [
      "-I",
      "-c",
      `import sys; sys.path.insert(0, ${JSON.stringify(join(pythonRoot, "src"))}); ${check}`,
    ]);
  });

  for (const [name, adapters] of Object.entries(environments)) {
    test(`with the packages of ${name}.txt`, async (t) => {
      const python = await pythonWith(join(pythonRoot, "tests", "adapters", `${name}.txt`));
      if (python === null) return t.skip(`${name}.txt can't be installed: is PyPI within reach?`);
      for (const adapter of adapters) {
        await t.test(`${adapter} keeps its promises, killed, edited and repeated`, async () => {
          const words = ["-m", "unittest", `tests.adapters.test_${adapter}`];
          const { code, output } = await run(python, words, {
            COUNTERSIGN_TEST_CONTROL: control.url,
          });
          assert.equal(code, 0, output);
          assert.match(output, /^Ran \d+ tests in/m);
          assert.doesNotMatch(output, /skipped=/, output);
        });
        if (adapter === "native_gates") continue;
        await t.test(`the documentation's program for ${adapter} runs`, () =>
          tryDocumented(python, control, adapter),
        );
      }
    });
  }
});

async function tryDocumented(python: string, control: Control, adapter: string): Promise<void> {
  const page = readFileSync(join(pythonRoot, "..", "docs", "python.md"), "utf8");
  const program = codeBlocksOf("python.md", page).find(({ text }) =>
    text.includes(`countersign.adapters.${adapter} `),
  );
  assert.ok(program, `docs/python.md has no program for ${adapter}`);
  const file = join(folder, `refunds_with_${adapter}.py`);
  await writeFile(file, program.text);
  const order = (body: object) =>
    fetch(control.url, { method: "POST", body: JSON.stringify(body) });
  const { key } = (await (await order({ do: "client" })).json()) as { key: string };
  const edit = '{"order_id": 1042, "amount": 12.5}';
  await order({ do: "decide next", key, verdict: "approve", edit });
  const { code, output } = await run(python, [file], {
    COUNTERSIGN_API_KEY: key,
    COUNTERSIGN_BASE_URL: control.served.url,
    PYTHONPATH: ["src", `tests/adapters/documented/${adapter}`, "."]
      .map((path) => join(pythonRoot, path))
      .join(":"),
  });
  assert.equal(code, 0, output);
  assert.match(output, /refunded 12\.50? EUR for order 1042/);
}

async function run(
  program: string,
  words: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, words, {
    cwd: pythonRoot,
    env: { ...settings, ...env },
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

assert.deepEqual(
  globSync("tests/adapters/test_*.py", { cwd: pythonRoot })
    .map((path) => path.replace(/^.*test_|\.py$/g, ""))
    .sort(),
  Object.values(environments).flat().sort(),
);
