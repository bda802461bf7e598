// The body by which a log submits a checkpoint to a witness (c2sp.org/tlog-witness): the size that the witness knows, the
// proof that the tree only grew since, and the signed checkpoint.

import { type Checkpoint, type Note, parseCheckpoint, parseNote } from "./note.ts";
import { witnessProofLinesMax } from "./witness-limits.ts";

export type Submission = {
  oldSize: number;
  proof: readonly Buffer[];
  checkpoint: Checkpoint;
  note: Note;
  /** The note as it came. */
  noteText: string;
};

const hashBytes = 32;

export function submissionBody(oldSize: number, proof: readonly Buffer[], note: string): string {
  const lines = proof.map((hash) => `${hash.toString("base64")}\n`);
  return `old ${oldSize}\n${lines.join("")}\n${note}`;
}

/** Null if it is malformed in any way. */
export function parseSubmission(bytes: Uint8Array): Submission | null {
  const text = decodeUtf8(bytes);
  const end = text?.indexOf("\n\n") ?? -1;
  if (text === null || end < 0) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\n");
  const oldSize = parseSize(/^old (.*)$/.exec(first)?.[1] ?? "");
  const proof = lines.map(parseHash);
  const noteText = text.slice(end + 2);
  const note = parseNote(noteText);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (oldSize === null || note === null || checkpoint === null) return null;
  if (lines.length > witnessProofLinesMax || proof.some((hash) => hash === null)) return null;
  return { oldSize, proof: proof.filter((hash) => hash !== null), checkpoint, note, noteText };
}

/** A tree's size in decimal, without leading zeros. Null if it is none. */
export function parseSize(text: string): number | null {
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) return null;
  const size = Number(text);
  return Number.isSafeInteger(size) ? size : null;
}

function parseHash(line: string): Buffer | null {
  const hash = Buffer.from(line, "base64");
  return hash.length === hashBytes && hash.toString("base64") === line ? hash : null;
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
