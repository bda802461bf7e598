// Cosignatures of witnesses (c2sp.org/tlog-cosignature, cosignature/v1): a checkpoint's text and the time, signed.

import {
  cosignatureV1,
  isSignedBy,
  type NoteSignature,
  type NoteSigner,
  parseNote,
  signatureLine,
  type VerifierKey,
  verifierKey,
} from "./note.ts";

const timestampBytes = 8;

/** A line for the checkpoint's note, without its end. */
export function cosign(body: string, name: string, at: Date, signer: NoteSigner): string {
  const { id } = verifierKey(name, cosignatureV1, signer.publicKey);
  const seconds = BigInt(Math.floor(at.getTime() / 1000));
  const timestamp = Buffer.alloc(timestampBytes);
  timestamp.writeBigUInt64BE(seconds);
  const signature = signer.sign(cosignedMessage(body, seconds));
  return signatureLine(name, id, Buffer.concat([timestamp, signature]));
}

/** The line by which this key cosigned the note; null if none did, or one of its lines is wrong. */
export function findCosignature(note: string, key: VerifierKey): string | null {
  const parsed = parseNote(note);
  if (parsed === null || key.type !== cosignatureV1) return null;
  const lines = parsed.signatures.filter(
    ({ name, keyId }) => name === key.name && keyId.equals(key.id),
  );
  const isRight = lines.every((each) => isCosigned(parsed.text, each, key));
  return isRight ? (lines[0]?.line ?? null) : null;
}

function isCosigned(body: string, { signature }: NoteSignature, key: VerifierKey): boolean {
  if (signature.length <= timestampBytes) return false;
  const seconds = signature.readBigUInt64BE(0);
  // Without a time it would not say that this was the newest head.
  if (seconds === 0n || seconds >= 2n ** 63n) return false;
  const bare = signature.subarray(timestampBytes);
  return isSignedBy(key.publicKey, cosignedMessage(body, seconds), bare);
}

function cosignedMessage(body: string, seconds: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`);
}
