// Signed notes and their keys (C2SP signed-note), checkpoints of a log (tlog-checkpoint), and the cosignatures of
// witnesses (tlog-cosignature).

import {
  type Bytes,
  concat,
  fromBase64,
  isEqual,
  isWellFormed,
  toBase64,
  toHex,
  utf8,
} from "./bytes.ts";
import { type IsSigned, isSignedByEd25519 } from "./ed25519.ts";
import { hashBytes, sha256 } from "./hashing.ts";

export type NoteSignature = { name: string; keyId: Bytes; signature: Bytes };
export type SignedNote = { text: string; signatures: NoteSignature[] };
export type NoteKey = { name: string; keyId: Bytes; type: number; publicKey: Bytes };
export type Checkpoint = { origin: string; size: number; root: Bytes };

const [plain, cosignature] = [0x01, 0x04];
const signaturesMax = 64;
const keyIdBytes = 4;
const spacesAndPlus = /[\s\u0085+]/u;

/** Null if the text is no signed note. */
export function parseNote(note: string): SignedNote | null {
  const end = note.lastIndexOf("\n\n");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: notes have none but newlines.
  if (end === -1 || !isWellFormed(note) || /[\u0000-\u0009\u000b-\u001f]/.test(note)) return null;
  const lines = note.slice(end + 2).split("\n");
  if (lines.pop() !== "" || lines.length === 0 || lines.length > signaturesMax) return null;
  const signatures = lines.map(parseSignature);
  if (signatures.some((each) => each === null)) return null;
  return { text: note.slice(0, end + 1), signatures: signatures as NoteSignature[] };
}

/** The text of a signed note. */
export function formatNote({ text, signatures }: SignedNote): string {
  const lines = signatures.map(
    ({ name, keyId, signature }) => `\u2014 ${name} ${toBase64(concat(keyId, signature))}\n`,
  );
  return `${text}\n${lines.join("")}`;
}

function parseSignature(line: string): NoteSignature | null {
  const [, name = "", encoded = ""] = /^\u2014 (\S+) (\S+)$/u.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (!isKeyName(name) || bytes === null || bytes.length <= keyIdBytes) return null;
  return { name, keyId: bytes.slice(0, keyIdBytes), signature: bytes.slice(keyIdBytes) };
}

/** `name+id+key`. Null unless it is an Ed25519 key, of a log or a witness, whose id is its own. */
export async function parseNoteKey(vkey: string): Promise<NoteKey | null> {
  const [, name = "", id = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/u.exec(vkey) ?? [];
  const bytes = fromBase64(encoded);
  const type = bytes?.[0];
  if (!isKeyName(name) || bytes?.length !== 33 || (type !== plain && type !== cosignature))
    return null;
  const key = await noteKeyOf(name, bytes.slice(1), type);
  return toHex(key.keyId) === id ? key : null;
}

/** Why it can't be a witness's. The key of a log is its operator's, who would be a witness of their own. */
export function flawOfWitness({ name, type }: NoteKey): string | null {
  if (type === cosignature) return null;
  return `${name} is the key of a log (type 0x01), and not of a witness (0x04): who writes a log is no witness of it`;
}

/** Throws a `TypeError` that says why it is none. */
export async function witnessKeyOf(vkey: string): Promise<NoteKey> {
  const key = await parseNoteKey(vkey);
  if (key === null) throw new TypeError(`${vkey} is no verifier key`);
  const flaw = flawOfWitness(key);
  if (flaw !== null) throw new TypeError(flaw);
  return key;
}

/** The key of a log whose name is its origin. */
export async function noteKeyOf(name: string, publicKey: Bytes, type = plain): Promise<NoteKey> {
  const hash = await sha256(concat(utf8(`${name}\n`), Uint8Array.of(type), publicKey));
  return { name, keyId: hash.slice(0, keyIdBytes), type, publicKey };
}

/**
 * Whether this key signed the note. A signature that names the key and is wrong refuses the note; one that names another
 * key says nothing.
 */
export async function isSignedNote(
  note: SignedNote,
  key: NoteKey,
  isSigned: IsSigned = isSignedByEd25519,
): Promise<boolean> {
  const own = note.signatures.filter(
    ({ name, keyId }) => name === key.name && isEqual(keyId, key.keyId),
  );
  for (const { signature } of own) {
    if (!(await isSignature(note.text, signature, { ...key, isSigned }))) return false;
  }
  return own.length > 0;
}

async function isSignature(
  text: string,
  signature: Bytes,
  { type, publicKey, isSigned }: NoteKey & { isSigned: IsSigned },
): Promise<boolean> {
  if (type === plain) return isSigned(publicKey, utf8(text), signature);
  const time = cosignedAt(signature);
  if (time === null) return false;
  return isSigned(publicKey, utf8(`cosignature/v1\ntime ${time}\n${text}`), signature.slice(8));
}

/** When a witness cosigned, in seconds. */
function cosignedAt(signature: Bytes): bigint | null {
  if (signature.length !== 72) return null;
  const time = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  return time < 2n ** 63n ? time : null;
}

/** From a note's text, or from the first three lines alone. Null if it is no checkpoint. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const lines = text.split("\n");
  const [origin = "", size = "", hash = ""] = lines;
  const root = fromBase64(hash);
  const isWhole = lines.length >= 4 && lines.at(-1) === "" && lines.slice(0, -1).every(Boolean);
  if (!isWhole || !/^(?:0|[1-9]\d{0,14})$/.test(size) || root?.length !== hashBytes) return null;
  return { origin, size: Number(size), root };
}

/** Origin, size and root: what logs sign and people keep. */
export function checkpointBody({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

function isKeyName(name: string): boolean {
  return name !== "" && !spacesAndPlus.test(name);
}

/** 0 without any. There may be more of them than a call takes arguments. */
export function largestOf(checkpoints: readonly { size: number }[]): number {
  return checkpoints.reduce((largest, { size }) => Math.max(largest, size), 0);
}

/** The same for two checkpoints that say the same. */
export function rootNameOf({ origin, size, root }: Checkpoint): string {
  return `${size} ${toBase64(root)} ${origin}`;
}

export type SignedCheckpoint = Checkpoint & { note: SignedNote };

/** Those that a witness has cosigned, if there are witnesses: the operator signs any beginning as the end. */
export async function seenBy(
  witnesses: readonly NoteKey[],
  list: readonly SignedCheckpoint[],
  isSigned?: IsSigned,
): Promise<SignedCheckpoint[]> {
  if (witnesses.length === 0) return [...list];
  const areSeen = await Promise.all(
    list.map(async ({ note }) => {
      const each = witnesses.map((witness) => isSignedNote(note, witness, isSigned));
      return (await Promise.all(each)).some(Boolean);
    }),
  );
  return list.filter((_, at) => areSeen[at]);
}
