import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { pino } from "pino";
import { loopbackCidrs, makeAddressPolicy } from "../src/domain/access/network-address.ts";
import { findCosignature } from "../src/domain/proof/cosignature.ts";
import type { WitnessSetting } from "../src/domain/proof/witness-settings.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { CheckpointSender } from "../src/outbound/add-checkpoint.ts";
import * as logCheckpoints from "../src/storage/proof/log-checkpoints.ts";
import { LogWitnesses } from "../src/worker/log-witnesses.ts";
import { until } from "./patience.ts";
import { openWitness, serveWitness, type TestWitness } from "./test-log.ts";
import { LogRows } from "./test-log-rows.ts";
import { makeWorkspace, startService } from "./test-service.ts";

const service = await startService();
const { db, servicePool } = service;
const sender = new CheckpointSender({ policy: makeAddressPolicy(loopbackCidrs) });
const running: LogWitnesses[] = [];
after(async () => {
  sender.close();
  await Promise.all(running.map((each) => each.stop()));
  await service.stop();
});

let logs = 0;
let installationLog: LogRows;

/** Each test has an installation's log of its own. The one before is closed. */
beforeEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
  await db.query("update log_trees set closed_at = now_ms() where closed_at is null");
  logs += 1;
  installationLog = new LogRows(db, null, logs === 1 ? "" : `/${logs}`);
});

type Submitting = { witnesses: LogWitnesses; lines: Record<string, unknown>[]; notices: number[] };

function submitTo(
  settings: readonly WitnessSetting[],
  send = sender.send.bind(sender),
  paceMs = 1,
): Submitting {
  const lines: Record<string, unknown>[] = [];
  const notices: number[] = [];
  const witnesses = new LogWitnesses({
    db: servicePool,
    witnesses: settings,
    addCheckpoint: send,
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onFault: (error) => lines.push({ level: 50, msg: String(error) }),
    onNotice: () => notices.push(1),
    paceMs,
  });
  running.push(witnesses);
  return { witnesses, lines, notices };
}

async function settingOf({ witness }: TestWitness): Promise<WitnessSetting> {
  return { key: witness.key, url: `${await serveWitness(witness)}/add-checkpoint` };
}

/** The newest checkpoint as `/log/checkpoint` serves it. */
async function newestNote(): Promise<string> {
  const newest = await logCheckpoints.findNewestOf(db, "");
  assert.ok(newest !== null);
  return logCheckpoints.readCosigned(db, newest);
}

async function untilCosigned(submitting: LogWitnesses, setting: WitnessSetting): Promise<string> {
  return until(async () => {
    submitting.wake();
    const note = await newestNote();
    return findCosignature(note, setting.key) === null ? null : note;
  });
}

const entries = Array.from({ length: 700 }, (_, at) => `entry ${at}`);

test("every checkpoint is cosigned by every witness, and served with their lines", async () => {
  await installationLog.grow("a", "b", "c");
  const one = await openWitness([await installationLog.key()]);
  const two = await openWitness([await installationLog.key()], { name: "witness.example/two" });
  const settings = [await settingOf(one), await settingOf(two)] as const;
  const { witnesses, lines } = submitTo(settings);
  for (const setting of settings) await untilCosigned(witnesses, setting);
  const note = await installationLog.grow(...entries);
  for (const setting of settings) await untilCosigned(witnesses, setting);
  const cosigned = await newestNote();
  assert.ok(cosigned.startsWith(note));
  assert.equal(cosigned.split("\n\u2014 ").length, 4);
  assert.deepEqual(lines, []);
});

test("witnesses that are asked at different moments cosign the same head", async () => {
  const hourMs = 3_600_000;
  const sign = (size: number, hours: number) =>
    db.query(
      "update log_checkpoints set signed_at = now() + $3 * interval '1 hour' where tree_id = $1 and size = $2",
      [installationLog.treeId, size, hours],
    );
  await installationLog.grow("a", "b", "c");
  await sign(3, -3);
  const key = await installationLog.key();
  const one = await settingOf(await openWitness([key]));
  const two = await settingOf(await openWitness([key], { name: "witness.example/two" }));
  const cosigned = async () => {
    const { rows } = await db.query(
      "select size::int, count(*)::int from log_cosignatures where tree_id = $1 group by size order by size",
      [installationLog.treeId],
    );
    return rows.map(({ size, count }) => [size, count]);
  };
  const untilCount = (submitting: Submitting, size: number, count: number) =>
    until(async () => {
      submitting.witnesses.wake();
      const found = (await cosigned()).find(([each]) => each === size);
      // A look that was already on its way may add the other's.
      return (found?.[1] ?? 0) >= count;
    });
  const first = submitTo([one], undefined, hourMs);
  await untilCount(first, 3, 1);
  // It is newer than the moment for which all workers ask.
  await installationLog.grow("d");
  await sign(4, 3);
  const second = submitTo([two], undefined, hourMs);
  await untilCount(second, 3, 2);
  await sign(4, -2);
  await untilCount(first, 4, 1);
  await untilCount(second, 4, 2);
  assert.deepEqual(await cosigned(), [
    [3, 2],
    [4, 2],
  ]);
});

test("a witness that is away costs nothing, and is caught up when it is back", async () => {
  await installationLog.grow("a");
  const there = await openWitness([await installationLog.key()]);
  const away = await openWitness([await installationLog.key()], { name: "witness.example/away" });
  const setting = await settingOf(there);
  const gone = { key: away.witness.key, url: "http://127.0.0.1:9/add-checkpoint" };
  const { witnesses, lines } = submitTo([gone, setting]);
  await untilCosigned(witnesses, setting);
  await until(() => lines.length > 0);
  await installationLog.grow("b", "c");
  await untilCosigned(witnesses, setting);
  assert.deepEqual(
    lines.map(({ msg, witness }) => [msg, witness]),
    [["a witness did not cosign; it is asked again", "witness.example/away"]],
    "one line, however often it is asked",
  );
  const back = await settingOf(away);
  const later = submitTo([back]);
  await untilCosigned(later.witnesses, back);
});

test("a witness that never answers is given up in time, and the stop doesn't wait for it", async () => {
  await installationLog.grow("a");
  const { witness } = await openWitness([await installationLog.key()]);
  const url = await serveWitness({ add: () => new Promise(() => {}), read: witness.read });
  const impatient = new CheckpointSender({
    policy: makeAddressPolicy(loopbackCidrs),
    timeoutMs: 50,
  });
  const setting = { key: witness.key, url: `${url}/add-checkpoint` };
  const { witnesses, lines } = submitTo([setting], impatient.send.bind(impatient));
  witnesses.wake();
  await until(() => lines.find(({ reason }) => reason === "timed out"));
  const slow = submitTo([setting]);
  slow.witnesses.wake();
  const stopping = new CheckpointSender({ policy: makeAddressPolicy(loopbackCidrs) });
  const hanging = submitTo([setting], stopping.send.bind(stopping));
  hanging.witnesses.wake();
  stopping.close();
  await hanging.witnesses.stop();
});

test("a 409 leads to a proof from the size that it names", async () => {
  await installationLog.grow(...entries.slice(0, 5));
  const opened = await openWitness([await installationLog.key()]);
  const setting = await settingOf(opened);
  const first = submitTo([setting]);
  await untilCosigned(first.witnesses, setting);
  await first.witnesses.stop();
  // What the service kept of it is lost, as after a crash before the commit.
  await db.query("delete from log_cosignatures where tree_id = $1", [installationLog.treeId]);
  await installationLog.grow(...entries.slice(5));
  const asked: number[] = [];
  const second = submitTo([setting], async (witness, submission) => {
    asked.push(submission.oldSize);
    return sender.send(witness, submission);
  });
  await untilCosigned(second.witnesses, setting);
  assert.deepEqual(asked, [0, 5]);
});

test("a witness that knows a larger log is told to every owner once", async () => {
  const ann = `ann.${logs}@example.com`;
  const bob = `bob.${logs}@example.com`;
  const first = await makeWorkspace(db);
  const second = await makeWorkspace(db);
  await addMember(db, { workspaceId: first.id, email: ann, role: "owner" });
  await addMember(db, { workspaceId: second.id, email: ann, role: "owner" });
  await addMember(db, { workspaceId: second.id, email: bob, role: "owner" });
  await addMember(db, { workspaceId: second.id, email: `carl.${logs}@example.com`, role: "admin" });
  await installationLog.grow(...entries.slice(0, 5));
  await installationLog.grow(...entries.slice(5, 9));
  const setting = await settingOf(await openWitness([await installationLog.key()]));
  const before = submitTo([setting]);
  await untilCosigned(before.witnesses, setting);
  await before.witnesses.stop();
  await installationLog.rollBack(5, entries);
  const { witnesses, lines, notices } = submitTo([setting]);
  const again = submitTo([setting]);
  await until(() => {
    witnesses.wake();
    again.witnesses.wake();
    return lines.length + again.lines.length >= 4;
  });
  const { msg, size, witnessedSize } = lines[0] ?? again.lines[0] ?? {};
  assert.match(String(msg), /contradicts the log/);
  assert.deepEqual([size, witnessedSize], [5, 9]);
  assert.equal(notices.length + again.notices.length, 1);
  const { rows } = await db.query<{ recipient: string; detail: object }>(
    `select d.recipient, e.detail from deliveries d
     join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     where e.kind = 'log.contradicted' and e.detail->>'origin' = $1 order by d.recipient`,
    [installationLog.origin],
  );
  assert.deepEqual(
    rows.map(({ recipient }) => recipient),
    [ann, bob],
  );
  assert.deepEqual(rows[0]?.detail, {
    origin: installationLog.origin,
    witness: "witness.example/one",
    witnessedSize: 9,
    size: 5,
  });
});

test("a log that was rolled back and grew beyond the witness's size is found by its proof", async () => {
  await installationLog.grow(...entries.slice(0, 3));
  await installationLog.grow(...entries.slice(3, 9));
  const setting = await settingOf(await openWitness([await installationLog.key()]));
  const before = submitTo([setting]);
  await untilCosigned(before.witnesses, setting);
  await before.witnesses.stop();
  await installationLog.rollBack(3, entries);
  await installationLog.grow(...Array.from({ length: 20 }, (_, at) => `rewritten ${at}`));
  const { witnesses, lines } = submitTo([setting]);
  await until(() => {
    witnesses.wake();
    return lines.find(({ msg }) => /contradicts the log/.test(String(msg)));
  });
  assert.equal(findCosignature(await newestNote(), setting.key), null);
});

test("a cosignature that is wrong, of another key or of another checkpoint is not kept", async () => {
  const note = await installationLog.grow("a", "b");
  const { witness } = await openWitness([await installationLog.key()]);
  const right = (await witness.add(Buffer.from(`old 0\n\n${note}`))).text;
  const other = await openWitness([await installationLog.key()]);
  const answers = [
    (await other.witness.add(Buffer.from(`old 0\n\n${note}`))).text,
    right.replace(/.{8}=*\n$/, "AAAAAAAA\n"),
    "",
    "not a line\n",
    `\u2014 ${witness.key.name} \n`,
    "x".repeat(100_000),
  ];
  for (const text of answers) {
    const url = await serveWitness({
      add: async () => ({ status: 200, text }),
      read: witness.read,
    });
    const setting = { key: witness.key, url: `${url}/add-checkpoint` };
    const { witnesses, lines } = submitTo([setting]);
    witnesses.wake();
    await until(() => lines.find(({ reason }) => reason === "its cosignature is wrong"));
    assert.equal(findCosignature(await newestNote(), witness.key), null);
    await witnesses.stop();
  }
  const url = await serveWitness({
    add: async () => ({ status: 200, text: `\u2014 stranger AAAAAAAA\n${answers[0]}${right}` }),
    read: witness.read,
  });
  const setting = { key: witness.key, url: `${url}/add-checkpoint` };
  await untilCosigned(submitTo([setting]).witnesses, setting);
});

test("a witness at a private address is reached only where webhooks may go", async () => {
  await installationLog.grow("a");
  const setting = await settingOf(await openWitness([await installationLog.key()]));
  const strict = new CheckpointSender({ policy: makeAddressPolicy([]) });
  const { witnesses, lines } = submitTo([setting], strict.send.bind(strict));
  witnesses.wake();
  await until(() => lines.find(({ reason }) => reason === "address not allowed"));
  assert.equal(findCosignature(await newestNote(), setting.key), null);
});
