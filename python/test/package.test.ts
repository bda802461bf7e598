// The Python package as users get it: built without a registry, installed in a fresh environment, and type-checked.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { codeBlocksOf } from "../../docs/test/code-block.ts";
import { startControl } from "./control.ts";
import { findPython, pythonRoot, skipsPython } from "./python.ts";

const mypy = "mypy==1.20.2";
const python = findPython() ?? "";
const folder = await mkdtemp(join(tmpdir(), "countersign-python-"));
after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Nothing of ours on the way to modules, so that only what is installed can be imported. */
const environment = {
  PATH: process.env.PATH,
  HOME: folder,
  PYTHONDONTWRITEBYTECODE: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
};

const run = (command: string, words: string[], cwd = folder) =>
  promisify(execFile)(command, words, { cwd, env: environment });

describe("the Python package", skipsPython, () => {
  const wheels = join(folder, "wheels");
  const wheel = "countersign-0.1.0-py3-none-any.whl";
  let hasEnvironments = true;

  test("a wheel is built from a clone and from the sdist, the same bytes, without a registry", async (t) => {
    hasEnvironments = await makeEnvironment();
    if (!hasEnvironments) return t.skip("this Python has no pip or venv");
    // pip's own way to a build (PEP 517), with nothing that it could fetch.
    const build = (source: string, to: string) =>
      run(pip(), ["wheel", "--no-index", "--no-deps", "--quiet", "--wheel-dir", to, source]);
    await build(pythonRoot, wheels);
    const script = "import build_backend, sys; print(build_backend.build_sdist(sys.argv[1]))";
    await run(python, ["-c", script, wheels], pythonRoot);
    const again = join(folder, "again");
    await build(join(wheels, "countersign-0.1.0.tar.gz"), again);
    const built = await readFile(join(wheels, wheel));
    // Not deepEqual: the difference of two files that differ takes all memory there is.
    assert.ok(built.equals(await readFile(join(again, wheel))), "the sdist makes another wheel");
    // What the service hands out was packed without Python.
    const served = join(folder, "served");
    const packages = join(pythonRoot, "..", "web", "dist", "packages");
    await build(join(packages, "countersign-0.1.0.tar.gz"), served);
    assert.ok(built.equals(await readFile(join(served, wheel))), "the service hands out another");
  });

  test("it holds its sources, its types' marker, its licence and its README, and nothing else", async (t) => {
    if (!hasEnvironments) return t.skip("this Python has no pip or venv");
    const { stdout } = await run(python, ["-m", "zipfile", "-e", join(wheels, wheel), "opened"]);
    assert.equal(stdout, "");
    const opened = join(folder, "opened");
    const files = (await readdir(opened, { recursive: true })).filter((path) =>
      /\w\.\w|[A-Z]$/.test(path),
    );
    const information = "countersign-0.1.0.dist-info";
    const expected = /^countersign\/((adapters\/)?\w+\.py|py\.typed)$/;
    assert.deepEqual(
      files.filter((path) => !expected.test(path) && !path.startsWith(information)),
      [],
    );
    assert.ok(files.includes("countersign/py.typed"));
    assert.ok(files.includes("countersign/adapters/langgraph.py"));
    const licence = await readFile(join(opened, information, "licenses", "LICENSE"), "utf8");
    assert.equal(licence, readFileSync(join(pythonRoot, "..", "LICENSE"), "utf8"));
    const metadata = await readFile(join(opened, information, "METADATA"), "utf8");
    assert.match(metadata, /^Requires-Python: >=3\.11$/m);
    assert.doesNotMatch(metadata, /^Requires-Dist/m);
    assert.ok(metadata.includes("\n\n# countersign\n"));
  });

  test("ten lines get a first approved request in a fresh environment", async (t) => {
    if (!hasEnvironments) return t.skip("this Python has no pip or venv");
    await run(pip(), ["install", "--no-index", "--quiet", join(wheels, wheel)]);
    await run(pip(), ["check"]);
    const page = readFileSync(join(pythonRoot, "..", "docs", "python.md"), "utf8");
    const program = codeBlocksOf("python.md", page).find(({ language }) => language === "python");
    assert.ok(program);
    const lines = program.text
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.startsWith("#"));
    assert.ok(lines.length <= 10, `it has ${lines.length} lines`);
    await writeFile(join(folder, "refund.py"), program.text);
    const control = await startControl();
    try {
      const output = await runProgram(control, join(folder, "fresh", "bin", "python"));
      assert.match(output, /refunding 12\.10 EUR for order 1042/);
    } finally {
      await control.stop();
    }
  });

  test("its types hold for mypy's strictest check, and so do those of its users", async (t) => {
    const checker = await installMypy();
    if (checker === null) return t.skip(`${mypy} can't be installed here: is PyPI within reach?`);
    const user = join(folder, "user.py");
    await writeFile(user, typedProgram);
    const settings = [
      "--config-file",
      join(pythonRoot, "pyproject.toml"),
      "--cache-dir",
      join(pythonRoot, ".tools", "cache"),
    ];
    const words = [
      ...settings,
      "--warn-unused-ignores",
      join(pythonRoot, "src", "countersign"),
      user,
    ];
    await run(checker, words, pythonRoot).catch(({ stdout, stderr }) =>
      assert.fail(`${stdout}${stderr}`),
    );
  });
});

function pip(): string {
  return join(folder, "fresh", "bin", "pip");
}

async function makeEnvironment(): Promise<boolean> {
  return run(python, ["-m", "venv", "fresh"]).then(
    () => existsSync(pip()),
    () => false,
  );
}

type Control = Awaited<ReturnType<typeof startControl>>;

async function runProgram({ url, served }: Control, program: string): Promise<string> {
  const order = (body: object) => fetch(url, { method: "POST", body: JSON.stringify(body) });
  const { key } = (await (await order({ do: "client" })).json()) as { key: string };
  const edit = '{"order_id": 1042, "amount": 12.10}';
  await order({ do: "decide next", key, verdict: "approve", edit });
  const child = spawn(program, ["refund.py"], {
    cwd: folder,
    env: { ...environment, COUNTERSIGN_API_KEY: key, COUNTERSIGN_BASE_URL: served.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.equal(code, 0, output);
  return output;
}

/** Once for a clone, like its node_modules. Null where it can't be had. */
async function installMypy(): Promise<string | null> {
  const tools = join(pythonRoot, ".tools");
  const checker = join(tools, mypy, "bin", "mypy");
  if (existsSync(checker)) return checker;
  try {
    await mkdir(tools, { recursive: true });
    await rm(join(tools, mypy), { recursive: true, force: true });
    await run(python, ["-m", "venv", join(tools, mypy)]);
    const options = { cwd: folder, env: { ...process.env, HOME: folder } };
    const words = ["install", "--quiet", "--only-binary", ":all:", mypy];
    await promisify(execFile)(join(tools, mypy, "bin", "pip"), words, options);
    return checker;
  } catch {
    await rm(join(tools, mypy), { recursive: true, force: true });
    return null;
  }
}

const typedProgram = `
from decimal import Decimal
from typing import assert_type

from countersign import (
    ApprovalRequest,
    Approvals,
    AsyncCountersign,
    CheckpointEvent,
    Countersign,
    Question,
    RecordedVote,
    WebhookEvent,
    construct_event,
)

client = Countersign("k")
async_client = AsyncCountersign("k")


def describe(order_id: int, amount: Decimal) -> Question:
    return {
        "summary": f"Refund {order_id}",
        "notify": "ann@example.com",
        "ttl_minutes": 60,
        "quorum": 2,
        "then": [{"notify": "cfo@example.com"}],
        "requested_by": "eve@example.com",
        "escalate": [{"after_minutes": 60, "notify": "group:directors"}],
        "channels": ["mail", "slack_link"],
        "audience": ["ledger"],
        "require_signature": True,
    }


def note(recorded: RecordedVote) -> None:
    assert_type(recorded.request.approvals, Approvals | None)


@client.require_approval(describe)
def refund(order_id: int, amount: Decimal) -> str:
    return "paid"


@async_client.require_approval(lambda order_id: {"summary": "a", "notify": "b"})
async def cancel_order(order_id: int) -> bool:
    return True


assert_type(refund(1, Decimal("2")), str)
assert_type(refund.ask(1, amount=Decimal("2")), ApprovalRequest)
assert_type(refund.with_options(timeout_seconds=5).resume("req_1"), str)
assert_type(construct_event(b"", {}, "whsec_a"), WebhookEvent)
assert_type(construct_event(b"", {}, "whsec_a", checkpoints=True), WebhookEvent | CheckpointEvent)
refund("1", Decimal("2"))  # type: ignore[arg-type]
assert_type(refund.with_options(on_vote=note)(1, Decimal("2")), str)
assert_type(client.requests.remind("req_1"), ApprovalRequest)
client.requests.create(summary="a")  # type: ignore[call-arg]
client.requests.create(summary="a", notify="b", then=[{"quorum": 2}])  # type: ignore[typeddict-item]
client.requests.create(summary="a", notify="b", colour="red")  # type: ignore[call-arg]


async def go() -> None:
    assert_type(await cancel_order(1), bool)
    assert_type(await async_client.requests.get("req_1"), ApprovalRequest)
    async for each in async_client.requests.list(status="PENDING"):
        assert_type(each, ApprovalRequest)
    async_client.requests.list(status="OPEN")  # type: ignore[arg-type]
`;
