// What may happen to a request once, and what the log may not say twice: its creation, its outcome and its deletion.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { base64url, digest } from "../../scripts/proof-vectors/test-keys.ts";
import { save, saveLog, verify } from "./run-program.ts";
import {
  type ExportParts,
  entryOf,
  installedLog,
  linesOf,
  type Opened,
  openedOf,
  origin,
  partsOf,
  type Row,
  receiptOf,
  requestOf,
  signTree,
  witnessKey,
} from "./test-export.ts";

const parts = partsOf(10, 7);
const [tree] = parts.trees;
const row = parts.rows[4] as Row;
/** The entry of its outcome; its creation is two before. */
const decided = tree.entries[15] as Opened;
const later = "2026-11-16T13:00:00.000Z";

/** The request as eve rejected it a day after it was approved, with a receipt, and the fact for the log. */
function turnedAround(): { entry: Opened; turned: Row } {
  const { kind: _, votes, ...fact } = JSON.parse(String(decided.fact));
  const [claims] = [
    JSON.parse(Buffer.from(`${row.receipt}`.split(".")[1] ?? "", "base64url").toString()),
  ];
  const iat = Date.parse(later) / 1_000;
  const jti = `evt_${"f".repeat(32)}`;
  const by = "eve@example.com";
  const entry = entryOf(
    { kind: "request.rejected", id: jti, at: later, request: row.id },
    { ...fact, at: later, by, effective: null, votes: [{ ...votes[0], email: by, at: later }] },
    Buffer.from(String(decided.salt), "base64url"),
  );
  const receipt = receiptOf({
    ...{ ...claims, jti, iat, nbf: iat, exp: iat + 86_400, decision: "rejected", effective: null },
    by: [{ email: by, at: later, amr: ["mail"] }],
  });
  const turned = {
    ...row,
    status: "REJECTED",
    effective: null,
    resolvedAt: later,
    by: [by],
    receipt,
  };
  return { entry, turned };
}

test("a second outcome of a request is found, also when nothing before it was rewritten and others have seen it", async () => {
  const { entry, turned } = turnedAround();
  const kept = save(signTree(tree).notes.at(-1) as string);
  const grown = { ...tree, entries: [...tree.entries, entry] };
  const whole = saveLog(installedLog([signTree(grown).notes]).entries);
  const flags = ["--checkpoint", kept, "--witness", witnessKey, "--log", whole];
  for (const today of [turned, row]) {
    const said = await verify(
      linesOf({ trees: [grown], rows: parts.rows.with(4, today) }),
      ...flags,
    );
    assert.equal(said.exitCode, 1);
    assert.equal(said.found[0], "outcome_twice 31");
    assert.match(said.findings[0]?.message ?? "", /APPROVED.*entry 15.*REJECTED.*entry 31/);
  }
  // In the log after a restore it is as wrong.
  const second = {
    ...{ origin: `${origin}/2`, checkpointEvery: 7, previous: origin },
    entries: [openedOf(`${origin}/2`, signTree(tree).notes.at(-1)), entry],
  };
  const across = await verify(linesOf({ trees: [tree, second], rows: parts.rows.with(4, turned) }));
  assert.equal(across.found[0], "outcome_twice 1");
});

test("a fact that the log says again, word for word, is no second one", async () => {
  const created = tree.entries[13] as Opened;
  const again = { trees: [{ ...tree, entries: [...tree.entries, created, decided] }] };
  const said = await verify(linesOf({ ...again, rows: parts.rows }));
  assert.deepEqual([said.exitCode, said.found], [0, []]);
  const { kind, ...fact } = JSON.parse(String(decided.fact));
  const { id, at, request } = JSON.parse(decided.entry);
  const salt = Buffer.from(String(decided.salt), "base64url");
  const other = entryOf({ kind, id, at, request }, { ...fact, note: "Fine" }, salt);
  const changed = { ...tree, entries: [...tree.entries, other] };
  const found = await verify(linesOf({ trees: [changed], rows: parts.rows }));
  assert.deepEqual([found.exitCode, found.found], [1, ["outcome_twice 31"]]);
});

test("a request that the log creates twice is found, and the first creation counts", async () => {
  const payload = '{"order": 4, "amount": 1}';
  const text = { digest: base64url(digest(payload)), bytes: payload.length };
  const at = String(row.resolvedAt);
  const created = entryOf(
    { kind: "request.created", id: "evc_x", at, request: row.id, payload },
    { request: row.id, at, summary: "Another refund", payload: text },
    Buffer.from(String(decided.salt), "base64url"),
  );
  const entries = [...tree.entries, created];
  const changed = { ...row, payload, receipt: null };
  const said = await verify(
    linesOf({ trees: [{ ...tree, entries }], rows: parts.rows.with(4, changed) }),
  );
  assert.deepEqual([said.exitCode, said.found], [1, ["creation_twice 31", "request_differs 15"]]);
});

test("a payload that was changed between a request's creation and its decision is found", async () => {
  const payload = '{"order": 4, "amount": 1}';
  const text = { digest: base64url(digest(payload)), bytes: payload.length };
  const salt = Buffer.from(String(decided.salt), "base64url");
  const { kind, ...fact } = JSON.parse(String(decided.fact));
  const { id, at, request } = JSON.parse(decided.entry);
  const other = entryOf(
    { kind, id, at, request },
    { ...fact, payload: text, effective: text },
    salt,
  );
  const changed = { ...row, payload, effective: payload, receipt: null };
  const said = await verify(
    linesOf({
      trees: [{ ...tree, entries: tree.entries.with(15, other) }],
      rows: parts.rows.with(4, changed),
    }),
  );
  assert.deepEqual([said.exitCode, said.found], [1, ["request_differs 15"]]);
});

/** The request of the first row was deleted then; what it left is closed unless it is kept. */
function deletedAt(
  at: string,
  {
    entries = tree.entries,
    keeps = () => false,
    rows = parts.rows.slice(1),
  }: {
    entries?: Opened[];
    keeps?: (entry: Opened, at: number) => boolean;
    rows?: Row[];
  } = {},
) {
  const { id } = parts.rows[0] as Row;
  const told = entryOf(
    { kind: "request.deleted", id, at },
    { at, request: id },
    Buffer.alloc(32, 1),
  );
  const left = [...entries, told].map((each, place) =>
    each.entry.includes(`"request":"${id}"`) && !keeps(each, place)
      ? { ...each, salt: null, fact: null }
      : each,
  );
  return verify(linesOf({ trees: [{ ...tree, entries: left }], rows }));
}

test("a request that the log calls deleted can't be in the export, and no fact of it can be read", async () => {
  const long = "2027-01-15T13:00:00.000Z";
  assert.deepEqual((await deletedAt(long)).found, []);
  const row = await deletedAt(long, { rows: parts.rows });
  assert.deepEqual([row.exitCode, row.found], [1, [`deletion_differs ${parts.rows[0]?.id}`]]);
  assert.match(row.findings[0]?.message ?? "", /is still in the export/);
  const fact = await deletedAt(long, { keeps: (_, at) => at === 2 });
  assert.deepEqual([fact.exitCode, fact.found], [1, ["deletion_differs 2"]]);
  assert.match(fact.findings[0]?.message ?? "", /can still be read/);
});

/** Its outcome is another one. */
function endedBy(kind: string | null, at: string): Opened[] {
  const { request } = JSON.parse(tree.entries[3]?.entry ?? "");
  const end = kind && entryOf({ kind, id: "evt_end", at, request }, { request, at }, digest("x"));
  return end ? tree.entries.with(3, end) : tree.entries.toSpliced(3, 1);
}

test("no request is deleted before 30 days after its end, however it ended, and none that still waits", async () => {
  const ended = "2026-11-20T13:00:00.000Z";
  for (const kind of ["request.approved", "request.rejected", "request.cancelled"]) {
    const entries = endedBy(kind, ended);
    const early = await deletedAt("2026-12-20T12:58:00.000Z", { entries });
    assert.deepEqual([early.exitCode, early.found], [1, ["request_missing 3"]], kind);
    assert.deepEqual((await deletedAt("2026-12-20T13:00:00.000Z", { entries })).found, [], kind);
  }
  // When it expired is known no better than that it was there: somebody writes that down later.
  const expired = endedBy("request.expired", "2026-12-10T13:00:00.000Z");
  const sooner = await deletedAt("2026-12-15T12:58:00.000Z", { entries: expired });
  assert.deepEqual([sooner.exitCode, sooner.found], [1, ["request_missing 1"]]);
  assert.deepEqual((await deletedAt("2026-12-15T13:00:00.000Z", { entries: expired })).found, []);
  const pending = await deletedAt("2027-11-01T13:00:00.000Z", { entries: endedBy(null, "") });
  assert.deepEqual([pending.exitCode, pending.found], [1, ["request_missing 1"]]);
  assert.match(pending.findings[0]?.message ?? "", /was still waiting/);
  const [told] = (await deletedAt("2027-11-01T13:00:00.000Z")).notes;
  assert.match(told ?? "", /1 requests were deleted/);
  const twice = await deletedAt("2027-11-01T13:00:00.000Z", {
    entries: [...tree.entries, endedBy("request.rejected", ended)[3] as Opened],
  });
  assert.deepEqual(twice.found, ["outcome_twice 31"]);
  const again = await deletedAt("2027-11-01T13:00:00.000Z", {
    entries: [...tree.entries, tree.entries[1] as Opened, tree.entries[3] as Opened],
  });
  assert.deepEqual(again.found, []);
});

test("no deletion is dated in a spelling that sorts before the export and means later", async () => {
  for (const at of ["+275760-09-13T00:00:00.000Z", "1 Jan 2100 00:00 GMT", "2027-02-01"]) {
    const { exitCode, found, findings } = await deletedAt(at);
    assert.deepEqual([exitCode, found], [1, ["entry_malformed 31"]], at);
    assert.match(findings[0]?.message ?? "", /which is no time as a log writes it/);
  }
});

test("a creation that can't be read is a finding: nothing of today could be held against it", async () => {
  const created = tree.entries[1] as Opened;
  const fact = String(created.fact).replace(",", ", ");
  const salt = Buffer.from(String(created.salt), "base64url");
  const hash = createHmac("sha256", salt).update(`fact\0${fact}`).digest("base64url");
  const entry = JSON.stringify({ ...JSON.parse(created.entry), salted: { fact: hash } });
  const entries = tree.entries.with(1, { ...created, entry, fact }).toSpliced(3, 1);
  const pending = { status: "PENDING", resolvedAt: null, by: [], receipt: null };
  const changed = { payload: '{"amount":1}', effective: '{"amount":1}' };
  const rows = parts.rows.with(0, { ...(parts.rows[0] as Row), ...pending, ...changed });
  const said = await verify(linesOf({ trees: [{ ...tree, entries }], rows }));
  assert.deepEqual([said.exitCode, said.found], [1, ["entry_malformed 1"]]);
});

test("a request that was opened and redeemed shortly before retention took it was deleted rightly", async () => {
  const { request } = JSON.parse(tree.entries[3]?.entry ?? "");
  const at = "2026-12-15T12:00:00.000Z";
  const after = ["request.opened", "request.redeemed"].map((kind) =>
    entryOf({ kind, id: kind, at, request }, { request, at }, digest("x")),
  );
  const said = await deletedAt("2026-12-15T13:00:00.000Z", {
    entries: [...tree.entries, ...after],
  });
  assert.deepEqual([said.exitCode, said.found], [0, []]);
});

test("a request that is older than the log is no finding, whatever happened to it after", async () => {
  const { row } = requestOf(5);
  const at = "2026-11-16T13:00:00.000Z";
  const after = (kind: string, fact: object): ExportParts => ({
    trees: [
      {
        ...{ origin, checkpointEvery: 7, previous: null },
        entries: [
          openedOf(origin, null, 1),
          entryOf(
            { kind, id: row.id, at, request: row.id },
            { request: row.id, at, ...fact },
            digest("x"),
          ),
        ],
      },
    ],
    rows: [{ ...row, logged: false }],
  });
  for (const [kind, fact] of [
    ["request.redeemed", { apiKey: { id: "key", name: "payer" } }],
    ["request.opened", { email: "ann@example.com" }],
  ] as const) {
    const said = await verify(linesOf(after(kind, fact)));
    assert.deepEqual([said.exitCode, said.found], [0, []], kind);
    assert.match(said.notes.join(), /1 requests are older than the log/);
    const without = linesOf({ ...after(kind, fact), rows: [] });
    assert.equal((await verify(without)).exitCode, 1, "what the log knows of must be here");
  }
});
