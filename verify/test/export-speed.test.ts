// How long an export takes: a million entries are verified in less than a minute. No test can hold a minute on a busy
// machine, so the time is held against the hashes and signatures of the same export, which nobody can do without. Heap
// is counted by Node itself, whatever else runs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash, createHmac, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { signNote } from "../../scripts/proof-vectors/log-parts.ts";
import { ed25519Key } from "../../scripts/proof-vectors/test-keys.ts";
import { runVerify } from "../src/program.ts";
import { asOf, folder, known } from "./run-program.ts";
import { key, linesOf, origin, partsOf, writeLines } from "./test-export.ts";

const roundsMax = 10;

function save(name: string, lines: Iterable<string>): string {
  const path = join(folder, name);
  writeLines(path, lines);
  return path;
}

async function verifyFile(path: string): Promise<{ exitCode: number; text: string }> {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  return {
    exitCode: await runVerify(["export", path, ...asOf, ...known], { env: {}, write }),
    text,
  };
}

/** Of all threads: other programs on the machine use their own. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** In turns, and the best of each, until the second takes at most so many times as long as the first. */
async function assertCpuRatio(max: number, first: () => unknown, second: () => unknown) {
  const best = { first: Infinity, second: Infinity };
  // Both once without a clock: what is not yet compiled is slow.
  await first();
  await second();
  for (let round = 1; round <= roundsMax; round += 1) {
    best.first = Math.min(best.first, await cpuOf(first));
    best.second = Math.min(best.second, await cpuOf(second));
    if (best.second <= max * best.first) return;
  }
  const ratio = (best.second / best.first).toFixed(1);
  assert.fail(`took ${ratio} times as long, ${max} at most are right`);
}

async function assertValid(path: string): Promise<void> {
  const { exitCode, text } = await verifyFile(path);
  assert.equal(exitCode, 0, text);
}

type Line = Record<"type" | "entry" | "salt" | "fact" | "payload", string> & {
  receipt: string | null;
};

/** Parses each line once, and hashes and verifies what it holds, without a look at what it says. */
function computeBare(path: string): void {
  const publicKey = createPublicKey(key.privateKey);
  for (const text of readFileSync(path, "utf8").trimEnd().split("\n")) {
    const line = JSON.parse(text) as Line;
    if (line.type === "entry") {
      const leaf = createHash("sha256").update("\0").update(line.entry).digest();
      createHash("sha256").update("\x01").update(leaf).update(leaf).digest();
      const salt = Buffer.from(line.salt, "base64url");
      createHmac("sha256", salt).update("fact\0").update(line.fact).digest();
    } else if (line.type === "request") {
      createHash("sha256").update(line.payload).digest();
      if (line.receipt === null) continue;
      const [header, claims, signature] = line.receipt.split(".") as [string, string, string];
      const signed = Buffer.from(`${header}.${claims}`);
      assert.ok(verify(null, signed, publicKey, Buffer.from(signature, "base64url")));
    }
  }
}

for (const what of ["with receipts", "without receipts, whose signatures would hide the rest"]) {
  test(`verifying takes little more than hashes and signatures alone, ${what}`, async () => {
    const { trees, rows } = partsOf(4_000, 1_000);
    const bare = rows.map((row) => (what === "with receipts" ? row : { ...row, receipt: null }));
    const path = save(what, linesOf({ trees, rows: bare }));
    await assertCpuRatio(
      2,
      () => computeBare(path),
      () => assertValid(path),
    );
  });
}

test("verifying takes time by the number of entries alone", async () => {
  const [short, long] = [
    save("short", linesOf(partsOf(500))),
    save("long", linesOf(partsOf(4_000))),
  ];
  const manyShort = async () => {
    for (let each = 0; each < 8; each += 1) await assertValid(short);
  };
  await assertCpuRatio(2, manyShort, () => assertValid(long));
});

test("verifying keeps little of each request: 30,001 entries fit into a heap of 32 MB", async () => {
  const path = save("large", linesOf(partsOf(10_000)));
  const program = join(import.meta.dirname, "../src/main.ts");
  const flags = ["--max-old-space-size=32", program, "export", path, ...asOf, ...known];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  assert.match(stdout, /^Valid: workspace \S+, 30001 entries .* 10000 receipts\.\n/);
});

test("a log with more checkpoints than a call has arguments gets its verdict", async () => {
  const lines = [...linesOf(partsOf(10))];
  const note = signNote(`${origin}\n7\n${"A".repeat(43)}=\n`, origin, ed25519Key("attacker"));
  const forged = new Array<string>(150_000).fill(
    JSON.stringify({ type: "checkpoint", origin, note }),
  );
  const { exitCode, text } = await verifyFile(save("many", [...lines, ...forged]));
  assert.deepEqual([exitCode, text.slice(0, 10)], [1, "Not valid:"]);
  assert.match(text, /150001 checkpoints/);
});
