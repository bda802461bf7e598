// A proof that an entry is in a log (C2SP tlog-proof), and what it proves of a receipt: that the decision was written
// down when it was made, in a log of the issuer, and, with witnesses, that others have seen this very log.

import { fromBase64, textOf, utf8 } from "./bytes.ts";
import type { ReceiptClaims } from "./claims.ts";
import { differenceOf } from "./decision-fact.ts";
import type { KeySet } from "./key-set.ts";
import { publicKeyOf, thumbprintOf } from "./key-set.ts";
import { areSalted, type LogEntry, logLabelOf, type OpenedEntry, readEntry } from "./log-entry.ts";
import { optionalTextAt, readObject, ShapeError, textAt } from "./members.ts";
import {
  type Checkpoint,
  checkpointBody,
  flawOfWitness,
  isSignedNote,
  noteKeyOf,
  parseCheckpoint,
  parseNote,
  parseNoteKey,
  type SignedNote,
} from "./note.ts";
import { ReceiptError } from "./receipt-flaw.ts";
import { isIncluded, leafHash } from "./tree.ts";

/** What a service hands out about a request: the decision's proof, and its checkpoint's place in the installation's log. */
export type LogProofs = {
  readonly proof: string | null;
  readonly installation?: { readonly proof: string } | null;
};

export type LogProof = {
  index: number;
  hashes: Uint8Array[];
  note: SignedNote;
  checkpoint: Checkpoint;
  /** Not believed before its entry is. */
  extra: string | null;
};

const firstLine = "c2sp.org/tlog-proof@v1";

/** Null if it is no proof. */
export function parseLogProof(text: string): LogProof | null {
  const end = text.indexOf("\n\n");
  const lines = text.slice(0, end).split("\n");
  const note = end === -1 || lines.shift() !== firstLine ? null : parseNote(text.slice(end + 2));
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  const extra = lines[0]?.startsWith("extra ")
    ? fromBase64(lines.shift()?.slice(6) ?? "")
    : undefined;
  const [, index] = /^index (0|[1-9]\d{0,14})$/.exec(lines.shift() ?? "") ?? [];
  const hashes = lines.map(fromBase64);
  if (note === null || checkpoint === null || index === undefined || extra === null) return null;
  if (!hashes.every((hash) => hash?.length === 32)) return null;
  return {
    index: Number(index),
    hashes: hashes as Uint8Array[],
    note,
    checkpoint,
    extra: extra === undefined ? null : textOf(extra),
  };
}

export type ProofContext = {
  claims: ReceiptClaims;
  keys: KeySet;
  /** Each must have cosigned. */
  witnesses: readonly string[];
};

/** Whether witnesses were asked for, and have cosigned. Throws a `ReceiptError` if the proof doesn't fit. */
export async function refuseOtherProof(
  given: string | LogProofs,
  { claims, keys, witnesses }: ProofContext,
): Promise<boolean> {
  const { proof: decision } = typeof given === "string" ? { proof: given } : given;
  const sites = sitesOf(claims);
  const own = sites.map((site) => `${site}/${claims.ws}`);
  const proof = await readProof(decision, own, keys);
  await refuseOtherDecision(await openProof(proof, "fact"), claims);
  const installation = typeof given === "string" ? installationIn(proof) : given.installation;
  if (installation === null || installation === undefined)
    return isWitnessed(proof.note, witnesses);
  const outer = await readProof(installation.proof, sites, keys);
  const { entry } = await openProof(outer, "checkpoint", checkpointBody(proof.checkpoint));
  if (entry.kind !== "checkpoint") refuse("the installation's entry is no checkpoint");
  if (entry.id !== (await logLabelOf(proof.checkpoint.origin))) {
    refuse("the installation's entry is of another log");
  }
  return isWitnessed(outer.note, witnesses);
}

/**
 * The installation's logs that the issuer has signed for: of its own address, and of the one whose log the receipt names,
 * because a service may get another address after a decision.
 */
function sitesOf({ iss, log, ws }: ReceiptClaims): string[] {
  const own = `${iss.replace(/^https?:\/\//, "").replace(/\/+$/, "")}/log`;
  const named = log === null ? null : siteOf(log.origin, ws);
  return named === null ? [own] : [own, named];
}

/** As many as a verifier looks for. */
export const generationsMax = 999;

/** A log after a restore has a number behind its origin. */
export function isOfOrigin(found: string, origin: string): boolean {
  return (
    found.startsWith(origin) && /^(?:\/(?:[2-9]|[1-9]\d{1,2}))?$/.test(found.slice(origin.length))
  );
}

/** The name of a log's generation. The first has none behind its own. */
export function nameAt(origin: string, generation: number): string {
  return generation === 1 ? origin : `${origin}/${generation}`;
}

/** Of an installation's log the first name, and which of its logs it is; null if it is none. */
export function installationOf(origin: string): { site: string; generation: number } | null {
  const [, site, number = "1"] = /^(.*\/log)(?:\/([2-9]|[1-9]\d{1,2}))?$/.exec(origin) ?? [];
  return site === undefined ? null : { site, generation: Number(number) };
}

/** The origin of the installation's log beside a workspace's; null if it is none of this workspace. */
export function siteOf(origin: string, workspace: string): string | null {
  const [, site = null, name] = /^(.*\/log)\/([^/]+)(?:\/[1-9]\d*)?$/.exec(origin) ?? [];
  return name === workspace ? site : null;
}

async function readProof(
  text: string | null,
  origins: readonly string[],
  keys: KeySet,
): Promise<LogProof> {
  const proof = text === null ? null : parseLogProof(text);
  if (proof === null) refuse("this is no proof");
  const { checkpoint, note } = proof;
  if (!origins.some((origin) => isOfOrigin(checkpoint.origin, origin))) {
    refuse(`it is about the log ${checkpoint.origin}`);
  }
  if (!(await isSignedByIssuer(note, checkpoint.origin, keys))) {
    refuse("the checkpoint isn't signed by the issuer");
  }
  return proof;
}

export async function isSignedByIssuer(
  note: SignedNote,
  origin: string,
  set: KeySet,
): Promise<boolean> {
  return (await standingOf(note, origin, set)) === "signed";
}

/**
 * Whose signature a checkpoint has: of a key that counts, of one that was revoked, or of none. A key set only names
 * revoked keys, so one of them may have signed what none of the others did.
 */
export type Standing = "signed" | "revoked" | "unsigned";

export async function standingOf(
  note: SignedNote,
  origin: string,
  { keys, revoked = [] }: KeySet,
): Promise<Standing> {
  const isRevoked = ({ kid }: { kid?: string }) => revoked.some((each) => each.kid === kid);
  const seen = new Set<string>();
  const signers = new Set<string>();
  for (const key of keys) {
    const publicKey = publicKeyOf(key);
    if (publicKey === null || (await thumbprintOf(publicKey)) !== key.kid) continue;
    seen.add(key.kid);
    if (!(await isSignedNote(note, await noteKeyOf(origin, publicKey)))) continue;
    if (!isRevoked(key)) return "signed";
    signers.add(key.kid);
  }
  const isInItsName = note.signatures.some(({ name }) => name === origin);
  const mayBeRevoked = isInItsName && revoked.some(({ kid }) => !seen.has(kid));
  return signers.size > 0 || mayBeRevoked ? "revoked" : "unsigned";
}

type Opened = { entry: LogEntry; fact: string };

/** The entry, once it is known to be in the tree and to stand for what is beside it. */
async function openProof(
  proof: LogProof,
  field: "fact" | "checkpoint",
  text?: string,
): Promise<Opened> {
  const opened = readExtra(proof.extra);
  const leaf = await leafHash(utf8(opened.entry));
  const { size, root } = proof.checkpoint;
  if (!(await isIncluded({ index: proof.index, size, leaf, proof: proof.hashes, root }))) {
    refuse("the entry isn't in the log");
  }
  const entry = readEntry(opened.entry);
  const said = text ?? opened.fact;
  const [isRight] = await areSalted([{ entry, salt: opened.salt, field, text: said }]);
  if (isRight !== true) refuse("the entry stands for something else");
  return { entry, fact: opened.fact };
}

/** A service puts it beside the opening. It is believed only as far as it proves itself. */
function installationIn({ extra }: LogProof): { proof: string } | null {
  const proof = optionalTextAt(readObject(extra, "the proof's extra data"), "installation");
  return proof === undefined ? null : { proof };
}

function readExtra(extra: string | null): OpenedEntry {
  const opened = readObject(extra, "the proof's extra data");
  return {
    entry: textAt(opened, "entry"),
    fact: textAt(opened, "fact"),
    salt: textAt(opened, "salt"),
  };
}

async function refuseOtherDecision({ entry, fact }: Opened, claims: ReceiptClaims): Promise<void> {
  if (entry.id !== claims.jti || entry.request !== claims.sub) refuse("it is another decision's");
  if (entry.kind !== `request.${claims.decision}`) refuse(`the log says ${entry.kind}`);
  const difference = differenceOf(claims, readObject(fact, "the fact"));
  if (difference !== null) refuse(`the log says otherwise: ${difference}`);
}

async function isWitnessed(note: SignedNote, witnesses: readonly string[]): Promise<boolean> {
  for (const witness of witnesses) {
    const key = await parseNoteKey(witness);
    if (key === null) throw new TypeError(`${witness} is no key of a witness`);
    const flaw = flawOfWitness(key);
    if (flaw !== null) refuse(flaw);
    if (!(await isSignedNote(note, key))) refuse(`${key.name} hasn't cosigned the log`);
  }
  return witnesses.length > 0;
}

function refuse(message: string): never {
  throw new ReceiptError("proof_invalid", message);
}

/** A proof that can't be read is one that doesn't fit. */
export function asProofFlaw(error: unknown): unknown {
  return error instanceof ShapeError ? new ReceiptError("proof_invalid", error.message) : error;
}
