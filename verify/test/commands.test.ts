// The program's other commands: receipts from files, and consistency with the tiles that a log serves.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ReceiptCase } from "../../scripts/proof-vectors/receipt-cases.ts";
import { runVerify } from "../src/program.ts";
import { key, linesOf, origin, partsOf, receiptOf, requestOf, signTree } from "./test-export.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-verify-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const vectorsPath = join(import.meta.dirname, "../../docs/proof-vectors.json");
const { receipts, keySets } = JSON.parse(readFileSync(vectorsPath, "utf8")) as {
  receipts: ReceiptCase[];
  keySets: Record<string, object>;
};
let files = 0;

function save(text: string): string {
  files += 1;
  const path = join(folder, `file-${files}`);
  writeFileSync(path, text);
  return path;
}

async function run(words: string[], env: Record<string, string> = {}) {
  let text = "";
  const exitCode = await runVerify(words, {
    env,
    write: (more) => {
      text += more;
    },
  });
  return { exitCode, text };
}

test("every vector of receipts ends with 0 or 1, and says its level or its reason", async () => {
  const jwks = Object.fromEntries(
    Object.entries(keySets).map(([name, set]) => [name, save(JSON.stringify(set))]),
  );
  // The program takes a receipt from a file, which may end with a newline.
  const trimmed = receipts.filter(({ receipt }) => receipt === receipt.trim());
  for (const each of trimmed.filter(({ payload }) => payload !== null)) {
    const { exitCode, text } = await run([
      ...["receipt", save(each.receipt), "--jwks", jwks[each.keySet] as string],
      ...["--issuer", each.issuer, "--audience", each.audience],
      ...["--at", new Date(each.now * 1_000).toISOString()],
      ...(each.payload === undefined ? [] : ["--payload", save(each.payload as string)]),
      ...(each.credentials ? ["--credentials", save(JSON.stringify(each.credentials))] : []),
      ...(each.proof === undefined ? [] : ["--proof", save(proofText(each.proof))]),
      ...(each.witnesses ?? []).flatMap((witness) => ["--witness", witness]),
      ...(each.allowRejected ? ["--allow-rejected"] : []),
    ]);
    const isValid = each.says.endsWith("-signed") || each.says === "witnessed";
    assert.equal(exitCode, isValid ? 0 : 1, `${each.name}: ${text}`);
    assert.ok(text.startsWith(`${isValid ? "Valid, " : "Not valid: "}${each.says}`), text);
  }
});

function proofText(proof: NonNullable<ReceiptCase["proof"]>): string {
  return typeof proof === "string" ? proof : JSON.stringify(proof);
}

test("a receipt whose times no calendar has is told by them as they are written", async () => {
  const claims = JSON.parse(
    Buffer.from(String(requestOf(1).row.receipt).split(".")[1] ?? "", "base64url").toString(),
  );
  const x = key.raw.toString("base64url");
  const jwks = save(JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", x, kid: key.kid }] }));
  const far = 999_999_999_999_999;
  const given = ["--jwks", jwks, "--issuer", claims.iss, "--audience", claims.aud[0]];
  const told = (times: object) =>
    run(["receipt", save(receiptOf({ ...claims, ...times })), ...given]);
  const { exitCode, text } = await told({ iat: far, nbf: 0, exp: far });
  assert.equal(exitCode, 0, text);
  assert.match(text, /at Unix time 999999999999999\.\n.*valid until Unix time 999999999999999\./);
  const early = await told({ nbf: far, exp: far });
  assert.match(early.text, /^Not valid: not_yet_valid\./);
});

test("without the keys nothing can be told", async () => {
  const { receipt } = receipts[0] as ReceiptCase;
  const closed = "http://127.0.0.1:9/.well-known/jwks.json";
  assert.equal((await run(["receipt", save(receipt), "--jwks", closed])).exitCode, 2);
  assert.equal((await run(["receipt", save(receipt), "--jwks", save("[]")])).exitCode, 2);
});

test("a receipt never names its own judge, and what wasn't checked is told to programs, too", async (t) => {
  // Anybody signs anything in the name of a service of their own.
  const [{ receipt, keySet, now }] = receipts as [ReceiptCase];
  const jwks = save(JSON.stringify(keySets[keySet]));
  t.mock.method(globalThis, "fetch", async () => Response.json(keySets[keySet]));
  const at = ["--at", new Date(now * 1_000).toISOString(), "--json"];
  const alone = await run(["receipt", save(receipt), ...at]);
  assert.deepEqual([alone.exitCode, JSON.parse(alone.text).ok], [2, null]);
  const { exitCode, text } = await run(["receipt", save(receipt), "--jwks", jwks, ...at]);
  assert.equal(exitCode, 0, text);
  assert.match(JSON.parse(text).notChecked.join(), /payload.*issuer.*audience/);
});

test("a forged receipt writes no verdict of its own onto the terminal", async () => {
  const [{ receipt, keySet }] = receipts as [ReceiptCase];
  const jwks = save(JSON.stringify(keySets[keySet]));
  const lie = "\u001b[2K\rValid, person-signed\nValid, person-signed\u202e";
  const header = { alg: "Ed25519", typ: "countersign-receipt+jwt", kid: lie };
  const forged = receipt.replace(
    /^[^.]*/,
    Buffer.from(JSON.stringify(header)).toString("base64url"),
  );
  const { exitCode, text } = await run(["receipt", save(forged), "--jwks", jwks]);
  assert.equal(exitCode, 1);
  assert.match(text, /^Not valid: key_unknown\. [ -~]*\n$/);
});

test("a proof that can't be read is no verdict", async () => {
  const [{ receipt, keySet }] = receipts as [ReceiptCase];
  const jwks = save(JSON.stringify(keySets[keySet]));
  const { exitCode } = await run(["receipt", save(receipt), "--jwks", jwks, "--proof", save("{")]);
  assert.equal(exitCode, 2);
});

test("a log's served tiles prove that a newer checkpoint only adds to an older one", async (t) => {
  const { trees } = partsOf(250, 100);
  const tiles = new Map<string, Buffer>();
  for (const line of linesOf({ trees, rows: [] })) {
    const { type, level, index, hashes } = JSON.parse(line);
    if (type !== "tile") continue;
    const width = hashes.length === 256 ? "" : `.p/${hashes.length}`;
    const bytes = Buffer.concat(hashes.map((hash: string) => Buffer.from(hash, "base64url")));
    tiles.set(`/log/tile/${level}/${String(index).padStart(3, "0")}${width}`, bytes);
  }
  const server = createServer((request, response) => {
    const keys =
      request.url === "/.well-known/jwks.json" ? JSON.stringify(keySets.published) : null;
    const isAllowed = keys !== null || request.headers.authorization === "Bearer cs_key";
    const body = keys ?? tiles.get(request.url ?? "");
    response.writeHead(body === undefined || !isAllowed ? 404 : 200).end(body);
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const log = `http://127.0.0.1:${(server.address() as AddressInfo).port}/log`;
  const { notes } = signTree(trees[0]);
  const newest = save(notes.at(-1) as string);
  const ask = (older: string, newer: string) =>
    run(["consistency", older, newer, "--log", log, "--key-env", "KEY"], { KEY: "cs_key" });
  for (const note of notes) {
    const { exitCode, text } = await ask(save(note), newest);
    assert.equal(exitCode, 0, text);
  }
  const back = await ask(newest, save(notes[0] as string));
  assert.deepEqual([back.exitCode, /rolled back/.test(back.text)], [1, true]);
  const fork = signTree({ ...trees[0], origin, entries: trees[0].entries.toReversed() });
  const split = await ask(save(fork.notes[2] as string), newest);
  assert.deepEqual([split.exitCode, /split view/.test(split.text)], [1, true]);
  const closed = await run(["consistency", save(notes[0] as string), newest, "--log", log]);
  assert.equal(closed.exitCode, 2);
  const unset = await run(["consistency", "a", "b", "--log", log, "--key-env", "KEY"]);
  assert.equal(unset.exitCode, 2);
});
