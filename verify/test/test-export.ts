// Exports of a log for tests, written a second time: none of the service's code is used here. Each request is created,
// opened and approved.

import { createHash, createHmac, sign } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import {
  bodyOf,
  cosign,
  inclusionOf,
  keyLine,
  labelOf,
  signNote,
  witness,
} from "../../scripts/proof-vectors/log-parts.ts";
import { base64url, digest, ed25519Key } from "../../scripts/proof-vectors/test-keys.ts";

export const key = ed25519Key("current");
export const ws = "ws_019a87c0a1b27c3d8e4f5a6b7c8d9e0f";
export const origin = `approvals.example.com/log/${ws}`;
export const installation = "approvals.example.com/log";
export const witnessKey = keyLine(witness.name, 0x04, witness.key).vkey;

export type Opened = { entry: string; salt: string | null; fact: string | null };
export type Row = Record<string, unknown> & { id: string; receipt: string | null };

function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function leafOf(entry: string): Buffer {
  return sha256(Buffer.of(0), Buffer.from(entry));
}

/** Hashes of whole subtrees, by level. */
class Levels {
  readonly rows: Buffer[][] = [];

  push(leaf: Buffer): void {
    this.#push(leaf, 0);
  }

  #push(hash: Buffer, level: number): void {
    const row = this.rows[level] ?? [];
    this.rows[level] = row;
    row.push(hash);
    if (row.length % 2 === 1) return;
    this.#push(sha256(Buffer.of(1), row.at(-2) as Buffer, hash), level + 1);
  }

  root(): Buffer {
    const peaks = this.rows.flatMap((row) => (row.length % 2 === 1 ? [row.at(-1) as Buffer] : []));
    const [first = sha256(), ...rest] = peaks;
    return rest.reduce((root, peak) => sha256(Buffer.of(1), peak, root), first);
  }
}

function saltedBy(salt: Buffer, field: string, text: string): string {
  return createHmac("sha256", salt).update(`${field}\0`).update(text).digest("base64url");
}

export function entryOf(
  parts: { kind: string; id: string; at: string; request?: string; payload?: string },
  fact: object,
  salt: Buffer,
): Opened {
  const { payload, ...rest } = parts;
  const text = JSON.stringify({ kind: parts.kind, ...fact });
  const salted = {
    fact: saltedBy(salt, "fact", text),
    ...(payload === undefined ? {} : { payload: saltedBy(salt, "payload", payload) }),
  };
  return {
    entry: JSON.stringify({ v: 1, ...rest, salted }),
    salt: base64url(salt),
    fact: text,
  };
}

export function openedOf(of: string, previous: string | null = null, requestsBefore = 0): Opened {
  const parts = { kind: "log.opened", id: "1", at: "2026-11-15T12:00:00.000Z" };
  return entryOf(parts, { origin: of, previous, requestsBefore }, digest(`salt of ${of}`));
}

function idOf(kind: string, number: number): string {
  return `${kind}_${number.toString(16).padStart(32, "0")}`;
}

/** Its entries, and its row of today. */
export function requestOf(number: number): { entries: Opened[]; row: Row } {
  const [id, jti] = [idOf("req", number), idOf("evt", number)];
  const salt = digest(`salt of ${id}`);
  const at = new Date(1_794_747_600_000 + number * 1_000).toISOString();
  const payload = `{"order": ${number}, "amount": 9007199254740993}`;
  const text = { digest: base64url(digest(payload)), bytes: Buffer.byteLength(payload) };
  const shown = { v: 2, digest: base64url(digest(`shown ${number}`)) };
  const policy = { required: 1, stages: [1] };
  const email = `ann${number % 7}@example.com`;
  const vote = {
    email,
    for: null,
    verdict: "approve",
    at,
    revision: 1,
    stage: null,
    via: "link",
    note: null,
  };
  const evidence = {
    shown,
    openedAt: at,
    openMs: 5,
    amr: ["mail"],
    address: null,
    userAgent: null,
    page: null,
    signed: null,
  };
  const entries = [
    entryOf(
      { kind: "request.created", id: idOf("evc", number), at, request: id, payload },
      { request: id, at, summary: "Refund", payload: text },
      salt,
    ),
    entryOf(
      { kind: "request.opened", id: idOf("rev", number), at, request: id },
      { request: id, at, email },
      salt,
    ),
    entryOf(
      { kind: "request.approved", id: jti, at, request: id },
      {
        request: id,
        at,
        by: email,
        note: null,
        edited: false,
        payload: text,
        effective: text,
        policy,
        votes: [{ ...vote, evidence }],
      },
      salt,
    ),
  ];
  const iat = Math.floor(Date.parse(at) / 1_000);
  const claims = {
    ...{
      iss: "https://approvals.example.com",
      aud: [ws],
      sub: id,
      jti,
      iat,
      nbf: iat,
      exp: iat + 86_400,
      ws,
    },
    ...{ decision: "approved", edited: false, by: [{ email, at, amr: ["mail"] }], policy, shown },
    ...{ payload: text, effective: text, log: { origin }, level: "operator-signed" },
  };
  const row = {
    ...{ id, status: "APPROVED", payload, effective: payload, resolvedAt: at, by: [email] },
    ...{ receipt: receiptOf(claims), logged: true },
  };
  return { entries, row };
}

export function receiptOf(claims: object): string {
  const header = { alg: "Ed25519", typ: "countersign-receipt+jwt", kid: key.kid };
  const signed = [header, claims]
    .map((part) => base64url(Buffer.from(JSON.stringify(part))))
    .join(".");
  return `${signed}.${base64url(sign(null, Buffer.from(signed), key.privateKey))}`;
}

export type Tree = {
  origin: string;
  entries: Opened[];
  checkpointEvery: number;
  previous: string | null;
};
export type ExportParts = { trees: Tree[]; rows: Row[]; later?: number };

/** What is signed of a tree: hashes, and a note for each checkpoint. */
export function signTree({ entries, checkpointEvery, origin: of }: Tree): {
  levels: Levels;
  notes: string[];
} {
  const levels = new Levels();
  const notes: string[] = [];
  entries.forEach(({ entry }, at) => {
    levels.push(leafOf(entry));
    const size = at + 1;
    if (size % checkpointEvery !== 0 && size !== entries.length) return;
    notes.push(signNote(`${of}\n${size}\n${levels.root().toString("base64")}\n`, of, key));
  });
  return { levels, notes };
}

export function* linesOf(
  { trees, rows, later = 0 }: ExportParts,
  installedIn = installation,
): Generator<string> {
  const signed = trees.map((tree) => ({ tree, ...signTree(tree) }));
  const newest = trees.at(-1) as Tree;
  yield line("export", {
    v: 1,
    workspace: ws,
    origin: newest.origin,
    size: newest.entries.length,
    at: "2027-11-16T00:00:00.000Z",
  });
  yield line("key", {
    kty: "OKP",
    crv: "Ed25519",
    x: base64url(key.raw),
    kid: key.kid,
    use: "sig",
    createdAt: "2026-11-01T00:00:00.000Z",
    retiredAt: null,
    revokedAt: null,
  });
  for (const { origin: of, entries, previous } of trees)
    yield line("tree", { origin: of, size: entries.length, previous });
  for (const { tree, notes } of signed)
    for (const note of notes) yield line("checkpoint", { origin: tree.origin, note });
  for (const { tree, levels } of signed) yield* tilesOf(tree.origin, levels);
  for (const { origin: of, entries } of trees) {
    for (const [index, { entry, salt, fact }] of entries.entries())
      yield line("entry", { origin: of, index, entry, salt, fact });
  }
  for (const row of rows) yield line("request", row);
  const whole = installedLog(
    signed.map(({ notes }) => notes),
    installedIn,
  );
  yield line("installation", whole.proven);
  for (const each of whole.installed) yield line("installed", each);
  const count = trees.reduce((sum, { entries }) => sum + entries.length, 0);
  yield line("end", { entries: count, requests: rows.length, later });
}

function line(type: string, facts: object): string {
  return JSON.stringify({ type, ...facts });
}

function* tilesOf(of: string, { rows }: Levels): Generator<string> {
  for (let level = 0; rows[level * 8] !== undefined; level += 1) {
    const row = rows[level * 8] as Buffer[];
    for (let index = 0; index * 256 < row.length; index += 1) {
      const hashes = row.slice(index * 256, (index + 1) * 256).map(base64url);
      yield line("tile", { origin: of, level, index, hashes });
    }
  }
}

type Installed = Opened & { log: string; index: number };

type Proven = { checkpoint: string; entries: object[] };

/** The installation's log: an entry of another workspace, then each checkpoint of ours, and one of another's. */
export function installedLog(
  notes: readonly string[][],
  of = installation,
): {
  entries: string[];
  /** Of all of it, cosigned. */
  checkpoint: string;
  installed: Installed[];
  proven: Proven;
  /** What an export has that ends with the entry at this place. */
  provenAt: (index: number) => Proven;
} {
  const ours = notes.flat().map(checkpointEntry);
  const other = (name: string) => checkpointEntry(`${installation}/ws_${name}\n5\nAAAA\n\n`).entry;
  const entries = [other("one"), ...ours.map(({ entry }) => entry), other("two")];
  const leaves = entries.map(leafOf);
  const checkpoint = cosign(signNote(bodyOf(of, leaves), of, key));
  const installed = ours.map((each, at) => ({ log: of, index: at + 1, ...each }));
  const provenAt = (index: number) => {
    const { entry, fact, salt } = installed[index - 1] as Installed;
    const extra = Buffer.from(JSON.stringify({ entry, fact, salt })).toString("base64");
    const hashes = inclusionOf(index, leaves).map((hash) => hash.toString("base64"));
    const lines = ["c2sp.org/tlog-proof@v1", `extra ${extra}`, `index ${index}`, ...hashes, ""];
    const proof = [...lines, checkpoint].join("\n");
    return { checkpoint, entries: [{ index, entry, fact, salt, proof }] };
  };
  return { entries, checkpoint, installed, proven: provenAt(ours.length), provenAt };
}

function checkpointEntry(note: string): Opened {
  const body = note.split("\n").slice(0, 3).join("\n").concat("\n");
  const [of = ""] = body.split("\n");
  const salt = digest(`salt of ${body}`);
  const entry = JSON.stringify({
    v: 1,
    kind: "checkpoint",
    id: labelOf(of),
    at: "2026-11-15T13:00:00.000Z",
    salted: { checkpoint: saltedBy(salt, "checkpoint", body) },
  });
  return {
    entry,
    salt: base64url(salt),
    fact: JSON.stringify({ kind: "checkpoint", origin: of, body }),
  };
}

/** A log of so many requests, three entries each, after the one that opens it. */
export function partsOf(requests: number, checkpointEvery = 100): ExportParts & { trees: [Tree] } {
  const made = Array.from({ length: requests }, (_, at) => requestOf(at));
  const entries = [openedOf(origin), ...made.flatMap((each) => each.entries)];
  return {
    trees: [{ origin, entries, checkpointEvery, previous: null }],
    rows: made.map(({ row }) => row),
  };
}

export function writeLines(path: string, lines: Iterable<string>): void {
  const file = openSync(path, "w");
  let waiting: string[] = [];
  const flush = () => {
    if (waiting.length > 0) writeSync(file, `${waiting.join("\n")}\n`);
    waiting = [];
  };
  for (const each of lines) {
    waiting.push(each);
    if (waiting.length === 1_000) flush();
  }
  flush();
  closeSync(file);
}
