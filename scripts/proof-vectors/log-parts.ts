// A log for the vectors, with trees as RFC 6962 defines them: none of the service's code is used here.

import { createHmac, sign } from "node:crypto";
import { claimsOf, keys, payload, requestId, shown, ws } from "./receipt-parts.ts";
import { base64url, digest, ed25519Key, type TestKey } from "./test-keys.ts";

export const origin = `approvals.example.com/log/${ws}`;
export const installationOrigin = "approvals.example.com/log";
export const salt = digest("salt of the request");

export type Opening = { entry: string; fact: string; salt: string };

export function leafOf(entry: string): Buffer {
  return digest(Buffer.concat([Buffer.of(0), Buffer.from(entry)]));
}

function nodeOf(left: Buffer, right: Buffer): Buffer {
  return digest(Buffer.concat([Buffer.of(1), left, right]));
}

/** The largest power of two below. */
function splitOf(size: number): number {
  return 2 ** Math.ceil(Math.log2(size) - 1);
}

export function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length < 2) return leaves[0] ?? digest("");
  const split = splitOf(leaves.length);
  return nodeOf(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

/** PATH of RFC 6962, section 2.1.1. */
export function inclusionOf(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length < 2) return [];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...inclusionOf(index, left), rootOf(right)]
    : [...inclusionOf(index - split, right), rootOf(left)];
}

/** PROOF of RFC 6962, section 2.1.2. */
export function consistencyOf(size: number, leaves: readonly Buffer[], isWhole = true): Buffer[] {
  if (size === leaves.length) return isWhole ? [] : [rootOf(leaves)];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return size <= split
    ? [...consistencyOf(size, left, isWhole), rootOf(right)]
    : [...consistencyOf(size - split, right, false), rootOf(left)];
}

/** By which the installation's log names the log of this origin. */
export function labelOf(of: string): string {
  return base64url(digest(`countersign log\0${of}`));
}

export function salted(field: string, text: string, key: Buffer = salt): string {
  return createHmac("sha256", key).update(`${field}\0`).update(text).digest("base64url");
}

export function keyLine(
  name: string,
  type: number,
  { raw }: TestKey,
): { id: Buffer; vkey: string } {
  const key = Buffer.concat([Buffer.of(type), raw]);
  const id = digest(Buffer.concat([Buffer.from(`${name}\n`), key])).subarray(0, 4);
  return { id, vkey: `${name}+${id.toString("hex")}+${key.toString("base64")}` };
}

export function bodyOf(from: string, leaves: readonly Buffer[]): string {
  return `${from}\n${leaves.length}\n${rootOf(leaves).toString("base64")}\n`;
}

export function signNote(text: string, name: string, key = keys.current): string {
  const { id } = keyLine(name, 0x01, key);
  const signature = Buffer.concat([id, sign(null, Buffer.from(text), key.privateKey)]);
  return `${text}\n\u2014 ${name} ${signature.toString("base64")}\n`;
}

export const witness = { name: "witness.example.org/w1", key: ed25519Key("witness") };
export const otherWitness = { name: "witness.example.org/w2", key: ed25519Key("other witness") };

export function cosign(note: string, { name, key } = witness, time = 1_794_747_700n): string {
  const text = note.slice(0, note.lastIndexOf("\n\n") + 1);
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(time);
  const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
  const { id } = keyLine(name, 0x04, key);
  const signature = Buffer.concat([id, stamp, sign(null, message, key.privateKey)]);
  return `${note}\u2014 ${name} ${signature.toString("base64")}\n`;
}

export function decisionFact(changes: Record<string, unknown> = {}): string {
  const { by, edited, policy, effective } = claimsOf();
  const [vote] = by as { email: string; at: string; amr: string[] }[];
  return JSON.stringify({
    kind: "request.approved",
    request: requestId,
    at: "2026-11-15T13:00:00.123Z",
    by: vote?.email,
    note: "Fine, but \u201cnext\u201d time ask before.",
    edited,
    payload: claimsOf().payload,
    effective,
    policy,
    votes: [{ ...voteFact(vote as object), ...(changes.vote as object) }],
    ...(changes.fact as object),
  });
}

function voteFact({ amr, ...vote }: { amr?: string[] }): object {
  return {
    ...vote,
    for: null,
    verdict: "approve",
    revision: 1,
    stage: null,
    via: "link",
    note: null,
    evidence: {
      shown,
      openedAt: "2026-11-15T12:59:00.000Z",
      openMs: 60_123,
      amr,
      address: "192.0.2.7",
      userAgent: "Mozilla/5.0",
      page: "review-Ab12Cd34",
      signed: null,
    },
  };
}

export function decisionEntry(fact: string, changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    v: 1,
    kind: "request.approved",
    id: claimsOf().jti,
    at: "2026-11-15T13:00:00.123Z",
    request: requestId,
    salted: { fact: salted("fact", fact), effective: salted("effective", payload) },
    ...changes,
  });
}

export function openingOf(entry: string, fact: string, key: Buffer = salt): Opening {
  return { entry, fact, salt: base64url(key) };
}

/** An entry among others, at this place of a tree of this size. */
export function leavesAround(entry: string, index: number, size: number): Buffer[] {
  return Array.from({ length: size }, (_, at) =>
    at === index ? leafOf(entry) : leafOf(`{"v":1,"kind":"filler","id":"${at}"}`),
  );
}

export type ProofParts = { index: number; hashes: Buffer[]; note: string; extra: string | null };

export function proofText({ index, hashes, note, extra }: ProofParts): string {
  const lines = [
    "c2sp.org/tlog-proof@v1",
    ...(extra === null ? [] : [`extra ${Buffer.from(extra).toString("base64")}`]),
    `index ${index}`,
    ...hashes.map((hash) => hash.toString("base64")),
  ];
  return `${lines.join("\n")}\n\n${note}`;
}
