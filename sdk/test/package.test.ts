// The SDK as it is published: built, packed, weighed, type-checked by its users, and run under every runtime it is for.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { type Served, serve } from "./served.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const sdk = join(root, "sdk");
/** 700 of them came with votes: hearing of each, reminding, and refusing an approval by fewer people than were asked. */
const gzippedBytesMax = 8_200;

let folder: string;
/** Where users have it: in a node_modules folder, with what `npm pack` would take and nothing else. */
let installed: string;
let served: Served;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-sdk-"));
  installed = join(folder, "node_modules", "@countersign", "sdk");
  await mkdir(installed, { recursive: true });
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const kit = ["-p", join(sdk, "tsconfig.testing.json")];
  await Promise.all([
    run(tsc, ["-p", sdk, "--outDir", join(installed, "dist")]),
    run(tsc, [...kit, "--outDir", join(installed, "dist", "testing")]),
  ]);
  await writeFile(
    join(installed, "package.json"),
    await readFile(join(sdk, "package.json"), "utf8"),
  );
  served = await serve();
});
after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

async function bundle(source: string): Promise<string> {
  const input = join(folder, "entry.js");
  await writeFile(input, source);
  const built = await rolldown({ input, cwd: folder });
  const { output } = await built.generate({ format: "esm", minify: true });
  await built.close();
  return output.map((chunk) => ("code" in chunk ? chunk.code : "")).join("");
}

test("the package has no dependencies and publishes what is built, alone", async () => {
  const { dependencies, peerDependencies, files } = JSON.parse(
    await readFile(join(sdk, "package.json"), "utf8"),
  );
  assert.deepEqual(
    { dependencies, peerDependencies, files },
    { dependencies: undefined, peerDependencies: undefined, files: ["dist", "!dist/built-from"] },
  );
});

test(`all of it is at most ${gzippedBytesMax} bytes, minified and gzipped, and its parts are less`, async () => {
  const whole = gzipSync(await bundle('export * from "@countersign/sdk";')).length;
  assert.ok(whole <= gzippedBytesMax, `it has ${whole}`);
  const verifier = gzipSync(await bundle('export { constructEvent } from "@countersign/sdk";'));
  assert.ok(verifier.length < whole / 2, `the verifier alone has ${verifier.length} of ${whole}`);
});

test("the testing kit is a package of its own that runs in a browser, and no agent carries it along", async () => {
  const kit = await bundle('export * from "@countersign/sdk/testing";');
  assert.doesNotMatch(kit, /\bBuffer\b|"node:|\bprocess\./);
  assert.match(kit, /was redeemed at/);
  const agent = await bundle('export * from "@countersign/sdk";');
  assert.doesNotMatch(agent, /countersign\.test/);
});

test("the verifier of receipts is a package of its own that runs in a browser, and no agent carries it along", async () => {
  const proof = await bundle('export * from "@countersign/sdk/proof";');
  assert.doesNotMatch(proof, /\bBuffer\b|"node:|\bprocess\./);
  assert.match(proof, /countersign-receipt\+jwt/);
  const agent = await bundle('export * from "@countersign/sdk";');
  assert.doesNotMatch(agent, /countersign-receipt/);
});

const user = `
import { receipts, ReceiptError, type ReceiptClaims } from "@countersign/sdk/proof";
import { Countersign, constructEvent, type ApprovalRequest } from "@countersign/sdk";
import { FakeService } from "@countersign/sdk/testing";
const service = new FakeService({ onRequest: ({ id }, fake) => fake.approve(id) });
export const faked = new Countersign(service.options);
type Refund = { orderId: number; amount: number };
const countersign = new Countersign({ apiKey: "k" });
const refund = countersign.requireApproval(
  async ({ amount }: Refund) => amount,
  ({ orderId }) => ({ summary: String(orderId), notify: "ann@example.com" }),
);
export const paid: Promise<number> = refund({ orderId: 1, amount: 2 });
export async function claimsOf(receipt: string, bytes: Uint8Array): Promise<ReceiptClaims> {
  const said = await receipts.verify(receipt, { issuer: "https://a", audience: "b", payload: bytes });
  if (!said.ok) throw new ReceiptError(said.reason, said.message);
  return said.claims;
}
export async function read(body: string, headers: Headers): Promise<number> {
  const event = await constructEvent<Refund>(body, headers, "whsec_");
  const request: ApprovalRequest<Refund> = await countersign.requests.get<Refund>(event.data.id);
  // @ts-expect-error: a payload of another type does not fit
  refund({ orderId: "1" });
  return request.effectivePayload.amount;
}
`;

for (const [where, options] of Object.entries({
  "Node's modules": { module: "nodenext" },
  "a bundler": { module: "esnext", moduleResolution: "bundler" },
})) {
  test(`the types hold for users with ${where}, without any types of Node's`, async () => {
    await writeFile(join(folder, "user.ts"), user);
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          ...options,
          strict: true,
          noEmit: true,
          types: [],
          lib: ["es2022", "dom"],
          target: "es2022",
        },
        files: ["user.ts"],
      }),
    );
    const tsc = join(root, "node_modules", ".bin", "tsc");
    await run(tsc, ["-p", folder]).catch(({ stdout }) => assert.fail(stdout));
  });
}

const runtimes = join(sdk, "runtimes", "node_modules");
const denoRights = ["run", "--allow-env", "--allow-net", "--allow-read"];

const here = `${process.platform}-${process.arch}`;

for (const [name, command] of Object.entries({
  "Node 20": [join(runtimes, `node20-${here}`, "bin", "node")],
  "Node 22": [join(runtimes, `node22-${here}`, "bin", "node")],
  "Node 24": [process.execPath],
  Bun: [join(onlyFolderIn(join(runtimes, "@oven")), "bin", "bun")],
  Deno: [join(onlyFolderIn(join(runtimes, "@deno")), "deno"), ...denoRights],
})) {
  const skip = existsSync(command[0] ?? "") ? false : `the lock file has none for ${here}`;
  test(`it asks, waits, lists, gives up and verifies under ${name}`, { skip }, async () => {
    const { key } = await makeWorkspace(served.service.db);
    assert.deepEqual(await runProgram(command, key), [
      "PENDING",
      "WaitTimeoutError",
      "APPROVED",
      12,
      true,
      "CountersignError",
      409,
      "already_resolved",
      "stopped",
      "request.approved",
      "signature_mismatch",
      "operator-signed",
      "person-signed",
      "signature_invalid",
    ]);
  });
}

/** Of the packages for all platforms npm installs the one for this. */
function onlyFolderIn(scope: string): string {
  return join(scope, (existsSync(scope) ? readdirSync(scope) : []).at(0) ?? "none");
}

async function runProgram([program = "", ...options]: string[], key: string): Promise<unknown> {
  const path = join(import.meta.dirname, "runtime-program.mjs");
  const child = spawn(program, [...options, path], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      SDK_UNDER_TEST: join(installed, "dist", "index.js"),
      COUNTERSIGN_API_KEY: key,
      COUNTERSIGN_BASE_URL: served.url,
      SIGNED: JSON.stringify(signed()),
      PROOF_UNDER_TEST: join(installed, "dist", "proof", "proof.js"),
      RECEIPTS: JSON.stringify(await chosenReceipts()),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  failed.catch(() => {});
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, rest = ""] = line.split(/ (.*)/);
    if (word === "approve") await served.approve(rest, '{"amount": 12}');
    if (word === "seen") return JSON.parse(rest);
  }
  await Promise.race([failed, Promise.resolve()]);
  throw new Error(`it ended early: ${errors}`);
}

/** Of the published vectors: one that the operator signed, one that people signed, and one that was changed. */
async function chosenReceipts(): Promise<unknown[]> {
  const { keySets, receipts } = JSON.parse(
    await readFile(join(root, "docs", "proof-vectors.json"), "utf8"),
  );
  return ["approved", "signed by two people", "sub changed"].map((name) => {
    const found = receipts.find((each: { name: string }) => each.name === name);
    return { ...found, jwks: keySets[found.keySet] };
  });
}

function signed() {
  const [secret, now] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1_790_000_000];
  const body = '{"event":"request.approved","data":{"id":"req_ü"}}';
  const v1 = createHmac("sha256", secret).update(`${now}.${body}`).digest("hex");
  return { body, header: `t=${now},v1=${v1}`, secret, now };
}
