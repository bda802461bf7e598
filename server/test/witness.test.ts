import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { findCosignature } from "../src/domain/proof/cosignature.ts";
import {
  formatVerifierKey,
  parseVerifierKey,
  signNote,
  type VerifierKey,
  withSignatures,
} from "../src/domain/proof/note.ts";
import { submissionBody } from "../src/domain/proof/witness-submission.ts";
import { Witness } from "../src/witness/witness.ts";
import { openWitnessKey, originHash, readHead } from "../src/witness/witness-state.ts";
import { until } from "./patience.ts";
import { makeFolder, makeSigner, openWitness, serveWitness, TestLog } from "./test-log.ts";
import { runProcess, startProgram, untilWritten } from "./test-program.ts";

const origin = "approvals.example/log";

function newLog(size: number): TestLog {
  return new TestLog(origin).grow(...Array.from({ length: size }, (_, at) => `entry ${at}`));
}

/** The witness's answer, and the size it knows afterwards. */
async function submit(witness: Witness, body: string | Buffer) {
  const answer = await witness.add(Buffer.from(body));
  const head = await witness.read(originHash(origin));
  const knows = head.status === 404 ? null : Number(head.text.split("\n")[1]);
  return { ...answer, knows };
}

test("a checkpoint that follows from the last one is cosigned, whoever else has signed it", async () => {
  const log = newLog(3);
  const { witness, folder } = await openWitness([log.key]);
  const first = await submit(witness, log.submission(0));
  assert.deepEqual([first.status, first.knows], [200, 3]);
  assert.ok(findCosignature(withSignatures(log.checkpoint(), [first.text.trim()]), witness.key));
  log.grow("four", "five", "six", "seven");
  const strangers = Array.from({ length: 20 }, (_, at) =>
    signNote("other text\n", `stranger.example/${at}`, makeSigner()).split("\n").at(-2),
  ) as string[];
  const note = withSignatures(log.checkpoint(), strangers);
  const second = await submit(witness, submissionBody(3, log.proof(3), note));
  assert.deepEqual([second.status, second.knows], [200, 7]);
  assert.match(second.text, /^— witness\.example\/one [A-Za-z0-9+/]+=*\n$/);
  const kept = (await witness.read(originHash(origin))).text;
  assert.equal(kept, withSignatures(log.checkpoint(), [second.text.trim()]));
  assert.equal(readdirSync(folder).filter((name) => name.startsWith(originHash(origin))).length, 1);
  assert.equal(statSync(join(folder, "witness-key.pem")).mode & 0o077, 0);
});

test("the same checkpoint is cosigned again, with the time of that", async () => {
  const log = newLog(2);
  let now = new Date("2026-11-18T12:00:00Z");
  const { witness } = await openWitness([log.key], { clock: () => now });
  const first = await submit(witness, log.submission(0));
  now = new Date("2026-11-18T13:00:00Z");
  const again = await submit(witness, log.submission(2));
  assert.deepEqual([again.status, again.knows], [200, 2]);
  assert.notEqual(again.text, first.text);
  assert.ok(findCosignature(withSignatures(log.checkpoint(), [again.text.trim()]), witness.key));
});

test("a log that was rolled back gets 409 with the size that the witness knows", async () => {
  const log = newLog(9);
  const { witness } = await openWitness([log.key]);
  await submit(witness, log.submission(0));
  for (const body of [log.submission(0, 5), log.submission(4, 5), log.submission(0, 9)]) {
    const answer = await submit(witness, body);
    assert.deepEqual([answer.status, answer.text, answer.type], [409, "9\n", "text/x.tlog.size"]);
    assert.equal(answer.knows, 9);
  }
  const tooOld = await submit(witness, submissionBody(9, [], log.checkpoint(5)));
  assert.deepEqual([tooOld.status, tooOld.knows], [400, 9]);
});

test("a split view is refused and kept as proof: two signed heads of one size", async () => {
  const log = newLog(6);
  const { witness, folder, told } = await openWitness([log.key]);
  await submit(witness, log.submission(0));
  const other = log.copyAt(5).grow("not what the witness saw");
  for (const body of [submissionBody(6, [], other.checkpoint()), other.submission(0)]) {
    const answer = await submit(witness, body);
    assert.ok([409, 422].includes(answer.status));
    assert.equal(answer.knows, 6);
  }
  assert.equal((await submit(witness, submissionBody(6, [], other.checkpoint()))).status, 422);
  const conflicts = readdirSync(folder).filter((name) => name.startsWith("conflict."));
  assert.equal(conflicts.length, 1);
  const proof = readFileSync(join(folder, conflicts[0] as string), "utf8");
  assert.ok(proof.includes(other.checkpoint()) && proof.includes(log.checkpoint()));
  assert.match(told[0] ?? "", /size 6 does not follow from the one of size 6/);
});

test("a fork that grew on has no proof, and neither has a wrong one", async () => {
  const log = newLog(6);
  const { witness } = await openWitness([log.key]);
  await submit(witness, log.submission(0));
  const fork = log.copyAt(5).grow("another sixth", "a seventh", "an eighth");
  log.grow("seven", "eight");
  const proof = log.proof(6);
  const flawed = [
    fork.submission(6),
    submissionBody(6, proof, fork.checkpoint()),
    submissionBody(6, proof.slice(1), log.checkpoint()),
    submissionBody(6, [...proof, Buffer.alloc(32)], log.checkpoint()),
    submissionBody(6, proof.toReversed(), log.checkpoint()),
    submissionBody(6, [], log.checkpoint()),
  ];
  for (const body of flawed) {
    const answer = await submit(witness, body);
    assert.deepEqual([answer.status, answer.knows], [422, 6]);
  }
  assert.equal((await submit(witness, log.submission(6))).status, 200);
});

test("a stranger who sends public checkpoints with wrong proofs accuses nobody, and takes no room from proof", async () => {
  const log = newLog(6);
  const { witness, folder, told } = await openWitness([log.key]);
  await submit(witness, log.submission(0));
  const other = log.copyAt(5).grow("not what the witness saw");
  for (let size = 7; size <= 110; size += 1) {
    log.grow(`entry ${size}`);
    await submit(witness, submissionBody(6, [], log.checkpoint()));
  }
  assert.deepEqual(
    told.filter((text) => text.includes("does not follow")),
    [],
  );
  const kept = (start: string) => readdirSync(folder).filter((name) => name.startsWith(start));
  assert.deepEqual([kept("conflict.").length, kept("doubt.").length], [0, 100]);
  await submit(witness, submissionBody(6, [], other.checkpoint()));
  assert.equal(kept("conflict.").length, 1);
  // Lines that the log didn't sign are another spelling of the same checkpoint.
  const noisy = `${other.checkpoint()}\u2014 stranger ${Buffer.alloc(68).toString("base64")}\n`;
  await submit(witness, submissionBody(6, [], noisy));
  assert.equal(kept("conflict.").length, 1);
});

test("the first checkpoint needs no proof, and must not bring one; an empty tree has its one root", async () => {
  const log = newLog(2);
  const { witness } = await openWitness([log.key]);
  const body = submissionBody(0, [Buffer.alloc(32)], log.checkpoint());
  assert.equal((await submit(witness, body)).status, 422);
  const text = `${origin}\n0\n${Buffer.alloc(32).toString("base64")}\n`;
  const falseEmpty = signNote(text, origin, log.signer);
  assert.equal((await submit(witness, submissionBody(0, [], falseEmpty))).status, 422);
  const empty = new TestLog(origin, log.signer);
  assert.deepEqual((await submit(witness, empty.submission(0))).knows, 0);
  assert.equal((await submit(witness, log.submission(0))).knows, 2);
});

test("only a key that is trusted for that origin counts, and none of its signatures may be wrong", async () => {
  const log = newLog(2);
  const renewed = new TestLog(origin, makeSigner());
  const { witness } = await openWitness([log.key, renewed.key]);
  const stranger = new TestLog("stranger.example/log").grow("a", "b");
  assert.equal((await submit(witness, stranger.submission(0))).status, 404);
  const posing = new TestLog(origin, makeSigner()).grow("a", "b");
  assert.equal((await submit(witness, posing.submission(0))).status, 403);
  // Signed under another name by the right key.
  const body = log.checkpoint().split("\n\n")[0] as string;
  const misnamed = signNote(`${body}\n`, "another.example/log", log.signer);
  assert.equal((await submit(witness, submissionBody(0, [], misnamed))).status, 403);
  const line = log.checkpoint().split("\n").at(-2) as string;
  const broken = `${line.slice(0, -4)}${line.endsWith("AAA=") ? "BBB=" : "AAA="}`;
  for (const note of [
    log.checkpoint().replace(line, broken),
    withSignatures(log.checkpoint(), [broken]),
  ]) {
    assert.equal((await submit(witness, submissionBody(0, [], note))).status, 403);
  }
  const answer = await submit(witness, log.submission(0));
  assert.equal(answer.status, 200);
  // A second key of the same log: its operator has rotated it.
  const text = `${body}\n`;
  const byRenewed = signNote(text, origin, renewed.signer);
  assert.equal((await submit(witness, submissionBody(2, [], byRenewed))).status, 200);
});

test("each log has its own head", async () => {
  const one = newLog(4);
  const other = new TestLog("other.example/log").grow("x");
  const { witness } = await openWitness([one.key, other.key]);
  assert.equal((await submit(witness, one.submission(0))).status, 200);
  assert.equal((await submit(witness, other.submission(0))).status, 200);
  assert.match((await witness.read(originHash(other.origin))).text, /^other\.example\/log\n1\n/);
  assert.equal((await witness.read(originHash(origin))).text.split("\n")[1], "4");
});

test("a malformed body is 400 and changes nothing", async () => {
  const log = newLog(2);
  const { witness } = await openWitness([log.key]);
  const good = log.submission(0);
  const flawed = [
    "",
    "\n",
    "old 0\n",
    good.replace("old 0", "old 00"),
    good.replace("old 0", "old -1"),
    good.replace("old 0", "old 0 "),
    good.replace("old 0", "OLD 0"),
    good.replace("old 0", "old 99999999999999999999"),
    good.replace("old 0\n", "old 0\nAAAA\n"),
    good.replace("old 0\n", `old 0\n${`${Buffer.alloc(32).toString("base64")}\n`.repeat(64)}`),
    good.replaceAll("\n", "\r\n"),
    good.slice(0, -1),
    good.replace(`${origin}\n2\n`, `${origin}\n02\n`),
    good.replace(`${origin}\n2\n`, `${origin}\n`),
    `\ufeff${good}`,
    good.replace("— ", "- "),
    Buffer.concat([Buffer.from(good), Buffer.from([0xff, 0xfe])]),
    Buffer.alloc(1_000, 0),
  ];
  for (const body of flawed) {
    const answer = await submit(witness, body);
    assert.deepEqual([answer.status, answer.knows], [400, null], JSON.stringify(String(body)));
  }
  assert.equal((await submit(witness, good)).status, 200);
});

test("racing submissions never roll back, not even from two processes on one folder", async () => {
  const log = newLog(60);
  const fork = log.copyAt(20).grow(...Array.from({ length: 40 }, (_, at) => `forked ${at}`));
  const first = await openWitness([log.key]);
  const second = await openWitness([log.key], { directory: first.folder });
  const cosigned: { size: number; isFork: boolean }[] = [];
  const race = async (witness: Witness, source: TestLog, sizes: number[]) => {
    let known = 0;
    for (const size of sizes) {
      for (;;) {
        const answer = await witness.add(
          Buffer.from(source.submission(Math.min(known, size), size)),
        );
        if (answer.status === 200) {
          cosigned.push({ size, isFork: source === fork && size > 20 });
          known = size;
        }
        if (answer.status !== 409) break;
        if (Number(answer.text) > size) break;
        known = Number(answer.text);
      }
    }
  };
  const sizes = (start: number) => Array.from({ length: 20 }, (_, at) => start + at * 3);
  await Promise.all([
    race(first.witness, log, sizes(1)),
    race(second.witness, log, sizes(2)),
    race(first.witness, fork, sizes(3)),
    race(second.witness, fork, sizes(1)),
  ]);
  const head = await readHead(first.folder, origin);
  const largest = Math.max(...cosigned.map(({ size }) => size));
  assert.equal(Number(head?.note.split("\n")[1]), largest);
  const branches = new Set(cosigned.filter(({ size }) => size > 20).map(({ isFork }) => isFork));
  assert.equal(branches.size, 1, "only one of the two branches was ever cosigned");
});

test("of many first submissions exactly one is cosigned as the first", async () => {
  const log = newLog(30);
  const { witness, folder } = await openWitness([log.key]);
  const { witness: beside } = await openWitness([log.key], { directory: folder });
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      (at % 2 === 0 ? witness : beside).add(Buffer.from(log.submission(0, at + 1))),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 29);
});

test("a head that was kept is known after a SIGKILL before the answer", async () => {
  const log = newLog(5);
  const folder = makeFolder();
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "killed-witness.ts"), folder, formatVerifierKey(log.key)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const ended = once(child, "exit");
  await assert.rejects(
    fetch(`${url}/add-checkpoint`, { method: "POST", body: log.submission(0) }),
    "it never answers",
  );
  assert.equal((await ended)[1], "SIGKILL");
  const { witness } = await openWitness([log.key], { directory: folder });
  const older = await submit(witness, log.submission(0, 3));
  assert.deepEqual([older.status, older.text, older.knows], [409, "5\n", 5]);
  log.grow("six");
  assert.equal((await submit(witness, log.submission(5))).status, 200);
});

test("a draft that a killed process left is no head, and a torn or forged head stops the witness", async () => {
  const log = newLog(5);
  const { witness, folder } = await openWitness([log.key]);
  writeFileSync(join(folder, "draft.0123"), log.checkpoint().slice(0, 20));
  assert.equal((await submit(witness, log.submission(0))).status, 200);
  const kept = (await readHead(folder, origin)) as { path: string; note: string };
  truncateSync(kept.path, 40);
  await assert.rejects(openWitness([log.key], { directory: folder }), /is damaged/);
  await assert.rejects(witness.add(Buffer.from(log.submission(0))), /is damaged/);
  // Somebody with the log's key, but not the witness's, writes an older head.
  writeFileSync(kept.path, log.checkpoint(2));
  await assert.rejects(witness.add(Buffer.from(log.submission(2))), /is damaged/);
  writeFileSync(kept.path, kept.note);
  assert.equal((await submit(witness, log.submission(5))).status, 200);
});

test("a witness without its key does not quietly begin anew", async () => {
  const log = newLog(1);
  const { witness, folder } = await openWitness([log.key]);
  await submit(witness, log.submission(0));
  writeFileSync(join(folder, "witness-key.pem"), "");
  await assert.rejects(openWitnessKey(folder), /holds no Ed25519 key/);
  rmSync(join(folder, "witness-key.pem"));
  await assert.rejects(openWitnessKey(folder), /is missing/);
  await assert.rejects(openWitness([log.key], { directory: folder, name: "another" }));
});

test("huge, slow, binary and broken calls cost the witness nothing", async () => {
  const log = newLog(2);
  const { witness } = await openWitness([log.key]);
  const faults: unknown[] = [];
  const onFault = (error: unknown) => faults.push(error);
  const url = await serveWitness(witness, { timeoutMs: 300, onFault });
  const post = (body: string | Buffer) => fetch(`${url}/add-checkpoint`, { method: "POST", body });
  const huge = await post(Buffer.alloc(2_000_000, 0x41)).catch(() => null);
  assert.ok(huge === null || huge.status === 413);
  const chunked = new ReadableStream({
    pull: (controller) => controller.enqueue(Buffer.alloc(65_536, 0x41)),
  });
  const endless = await fetch(`${url}/add-checkpoint`, {
    method: "POST",
    body: chunked,
    duplex: "half",
  } as RequestInit).catch(() => null);
  assert.ok(endless === null || endless.status === 413);
  assert.equal((await post(Buffer.from([0, 1, 2, 255]))).status, 400);
  const { port } = new URL(url);
  const slow = connect(Number(port), "127.0.0.1");
  slow.write("POST /add-checkpoint HTTP/1.1\r\nhost: w\r\ncontent-length: 100\r\n\r\nold");
  let said = "";
  slow.on("data", (bytes) => {
    said += bytes;
  });
  await once(slow, "close");
  assert.match(said, /^HTTP\/1\.1 4(00|08)/);
  const cut = connect(Number(port), "127.0.0.1");
  cut.write("POST /add-checkpoint HTTP/1.1\r\nhost: w\r\ncontent-length: 100\r\n\r\nold");
  cut.destroy();
  assert.equal((await fetch(`${url}/add-checkpoint`)).status, 405);
  assert.equal((await fetch(`${url}/`)).status, 404);
  assert.equal((await fetch(`${url}/${originHash(origin)}/checkpoint`)).status, 404);
  const answer = await post(log.submission(0));
  assert.equal(answer.status, 200);
  const conflict = await post(log.submission(0));
  assert.equal(conflict.status, 409);
  assert.equal(conflict.headers.get("content-type"), "text/x.tlog.size");
  assert.equal(await conflict.text(), "2\n");
  const read = await fetch(`${url}/${originHash(origin)}/checkpoint`);
  assert.deepEqual([read.status, (await read.text()).split("\n")[1]], [200, "2"]);
  assert.deepEqual(faults, []);
});

test("a disk that refuses is a 500, and nothing is cosigned", async () => {
  const log = newLog(2);
  const { witness, folder } = await openWitness([log.key]);
  const faults: unknown[] = [];
  const url = await serveWitness(witness, { onFault: (error) => faults.push(error) });
  const gone = new Witness({
    name: witness.key.name,
    directory: join(folder, "gone"),
    privateKey: await openWitnessKey(folder),
    logs: [log.key],
    clock: () => new Date(0),
    tell: () => {},
  });
  await assert.rejects(gone.add(Buffer.from(log.submission(0))));
  const failing = await serveWitness(gone, { onFault: (error) => faults.push(error) });
  const answer = await fetch(`${failing}/add-checkpoint`, {
    method: "POST",
    body: log.submission(0),
  });
  assert.equal(answer.status, 500);
  assert.doesNotMatch(await answer.text(), /—/);
  assert.equal(faults.length, 1);
  assert.ok(url);
});

test("`countersign witness` runs without a database, prints its key, and knows it after a restart", async () => {
  const log = newLog(3);
  const folder = join(makeFolder(), "state");
  const words = ["witness", "--listen", "127.0.0.1:0", "--name", "witness.example/w"];
  const flags = [...words, "--state", folder, "--log", formatVerifierKey(log.key)];
  const environment = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
  const started = startProgram(environment, flags);
  const [, url] = await untilWritten(started, /at (http:\/\/127\.0\.0\.1:\d+)\./);
  const [, vkey = ""] = await untilWritten(started, /Verifier key: (\S+)\n/);
  const call = { method: "POST", body: log.submission(0) };
  const answer = await fetch(`${url}/add-checkpoint`, call);
  const note = withSignatures(log.checkpoint(), [(await answer.text()).trim()]);
  assert.ok(findCosignature(note, parseVerifierKey(vkey) as VerifierKey));
  started.child.kill("SIGKILL");
  await started.ended;
  const again = startProgram(environment, flags);
  await untilWritten(again, new RegExp(vkey.replaceAll(/[+/.]/g, "\\$&")));
  const [, next] = await untilWritten(again, /at (http:\/\/127\.0\.0\.1:\d+)\./);
  assert.equal((await fetch(`${next}/add-checkpoint`, call)).status, 409);
  again.child.kill("SIGTERM");
  assert.deepEqual(await again.ended, { code: 0, signal: null });
  await until(() => again.child.exitCode !== null);
  for (const [wrong, pattern] of [
    [[...words, "--state", folder, "--log", "nonsense"], /no verifier key of a log/],
    [[...flags.slice(0, 4), "a b", ...flags.slice(5)], /neither spaces nor a plus/],
    [["witness", "--listen", "nowhere", ...flags.slice(3)], /no address with a port/],
    [words, /required option/],
  ] as [string[], RegExp][]) {
    const outcome = await runProcess({}, wrong);
    assert.equal(outcome.code, 1);
    assert.match(outcome.stderr, pattern);
  }
});
