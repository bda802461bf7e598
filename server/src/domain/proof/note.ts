// Signed notes (C2SP signed-note), their verifier keys, and the checkpoints of a log (C2SP tlog-checkpoint).

import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";

/** The algorithm's byte in a key: a plain signature, and a witness's that says when (C2SP tlog-cosignature). */
export const ed25519 = 0x01;
export const cosignatureV1 = 0x04;

export type VerifierKey = {
  readonly name: string;
  readonly id: Buffer;
  readonly type: number;
  readonly publicKey: Buffer;
};

export type NoteSignature = {
  readonly name: string;
  readonly keyId: Buffer;
  readonly signature: Buffer;
  /** As it stands in the note, without the end of the line. */
  readonly line: string;
};

export type Note = { readonly text: string; readonly signatures: readonly NoteSignature[] };

export type Checkpoint = {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
};

export type NoteSigner = {
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
};

const keyIdBytes = 4;
const ed25519Bytes = 32;
/** Sixteen must be accepted; our own notes have far fewer. */
const noteSignaturesMax = 100;
const dash = "\u2014";

export function verifierKey(name: string, type: number, publicKey: Uint8Array): VerifierKey {
  const encoded = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey]);
  const id = hash("sha256", encoded, "buffer").subarray(0, keyIdBytes);
  return { name, id, type, publicKey: Buffer.from(publicKey) };
}

export function formatVerifierKey({ name, id, type, publicKey }: VerifierKey): string {
  const key = Buffer.concat([Buffer.from([type]), publicKey]);
  return `${name}+${id.toString("hex")}+${key.toString("base64")}`;
}

/** Null unless it is an Ed25519 key, plain or of a witness, whose id is right. */
export function parseVerifierKey(text: string): VerifierKey | null {
  // The base64 of a key may hold a plus, a name or an id never does.
  const parts = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/u.exec(text);
  const [, name = "", id = "", encoded = ""] = parts ?? [];
  const key = decodeBase64(encoded);
  if (!isKeyName(name) || key === null || key.length !== 1 + ed25519Bytes) return null;
  const type = key[0];
  if (type !== ed25519 && type !== cosignatureV1) return null;
  const parsed = verifierKey(name, type, key.subarray(1));
  return parsed.id.toString("hex") === id ? parsed : null;
}

/** The text, which ends with a newline, and one signature. */
export function signNote(text: string, name: string, signer: NoteSigner): string {
  const { id } = verifierKey(name, ed25519, signer.publicKey);
  return `${text}\n${signatureLine(name, id, signer.sign(Buffer.from(text)))}\n`;
}

/** A line of a note, without its end. */
export function signatureLine(name: string, keyId: Uint8Array, signature: Uint8Array): string {
  return `${dash} ${name} ${Buffer.concat([keyId, signature]).toString("base64")}`;
}

/** A note with more signatures, as lines. */
export function withSignatures(note: string, lines: readonly string[]): string {
  return note + lines.map((line) => `${line}\n`).join("");
}

export function parseNote(note: string): Note | null {
  const at = note.lastIndexOf("\n\n");
  if (at < 0 || !note.endsWith("\n") || hasControls(note) || !note.isWellFormed()) return null;
  const lines = note.slice(at + 2, -1).split("\n");
  if (lines.length > noteSignaturesMax) return null;
  const signatures = lines.map(parseSignature);
  if (signatures.some((each) => each === null)) return null;
  return {
    text: note.slice(0, at + 1),
    signatures: signatures.filter((each) => each !== null),
  };
}

/**
 * The text, if at least one of these keys has signed it with a plain signature, and every signature of theirs holds.
 * Signatures of other keys mean nothing.
 */
export function openNote(note: string, keys: readonly VerifierKey[]): string | null {
  const parsed = parseNote(note);
  if (parsed === null) return null;
  const bytes = Buffer.from(parsed.text);
  const known = parsed.signatures.flatMap(({ name, keyId, signature }) =>
    keys
      .filter((key) => key.type === ed25519 && key.name === name && key.id.equals(keyId))
      .map((key) => isSignedBy(key.publicKey, bytes, signature)),
  );
  return known.length > 0 && known.every(Boolean) ? parsed.text : null;
}

export function isSignedBy(
  publicKey: Uint8Array,
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(null, bytes, keyObjectOf(publicKey), signature);
}

/** Making one takes half as long as a verification. */
const keyObjects = new Map<string, KeyObject>();
const keyObjectsMax = 256;

function keyObjectOf(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey).toString("base64url");
  const known = keyObjects.get(x);
  if (known !== undefined) return known;
  const made = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  if (keyObjects.size >= keyObjectsMax) keyObjects.clear();
  keyObjects.set(x, made);
  return made;
}

/** The text of a checkpoint, to be signed. */
export function checkpointBody({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString("base64")}\n`;
}

/** Reads a checkpoint's text; what follows its three lines is not ours to understand. */
export function parseCheckpoint(text: string): Checkpoint | null {
  if (!text.endsWith("\n")) return null;
  const [origin = "", size = "", encoded = "", ...extensions] = text.slice(0, -1).split("\n");
  const root = decodeBase64(encoded);
  if (origin === "" || !/^(0|[1-9][0-9]{0,15})$/.test(size) || root?.length !== 32) return null;
  if (!Number.isSafeInteger(Number(size)) || extensions.includes("")) return null;
  return { origin, size: Number(size), root };
}

function parseSignature(line: string): NoteSignature | null {
  const [mark, name = "", encoded = "", ...more] = line.split(" ");
  const bytes = decodeBase64(encoded);
  if (mark !== dash || !isKeyName(name) || bytes === null || more.length > 0) return null;
  if (bytes.length <= keyIdBytes) return null;
  return {
    name,
    keyId: bytes.subarray(0, keyIdBytes),
    signature: bytes.subarray(keyIdBytes),
    line,
  };
}

function isKeyName(name: string): boolean {
  return name !== "" && !/[\s+\u0085]/u.test(name);
}

/** The one standard spelling, as Buffer itself would write it: it reads many others, too. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return text !== "" && bytes.toString("base64") === text ? bytes : null;
}

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 && code !== 0x0a) return true;
  }
  return false;
}
