// An entry of the log, and the fact that it stands for: an entry holds no more than salted hashes, and a fact is
// believed if it has, with the salt, the very hash.

import { fromBase64Url, isEqual, toBase64Url, utf8 } from "./bytes.ts";
import type { ExactObject } from "./exact-json.ts";
import { type HashMany, hashAt, hashWithWebCrypto, hmacMany } from "./hashing.ts";
import { objectAt, optionalTextAt, readObject, ShapeError, textAt } from "./members.ts";
import { Messages } from "./messages.ts";

export type LogEntry = {
  kind: string;
  id: string;
  at: string;
  request: string | null;
  salted: ExactObject;
};

/** An entry's text with what opens it. */
export type OpenedEntry = { entry: string; fact: string; salt: string };

/** Throws a `ShapeError` if it is no entry. */
export function readEntry(text: string): LogEntry {
  const entry = readObject(text, "the entry");
  return {
    kind: textAt(entry, "kind"),
    id: textAt(entry, "id"),
    at: textAt(entry, "at"),
    request: optionalTextAt(entry, "request") ?? null,
    salted: objectAt(entry, "salted"),
  };
}

/** An entry that can't be read is nobody's. */
export function readEntryOrNull(text: string): LogEntry | null {
  try {
    return readEntry(text);
  } catch (error) {
    if (error instanceof ShapeError) return null;
    throw error;
  }
}

/** The installation's entry of a checkpoint, and the checkpoint's text. What can't be read opens nothing. */
export function readCheckpointEntry({ entry: text, fact }: Omit<OpenedEntry, "salt">): {
  entry: LogEntry;
  body: string;
} {
  try {
    const entry = readEntry(text);
    const body = textAt(readObject(fact, "the fact"), "body");
    if (entry.kind === "checkpoint") return { entry, body };
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
  }
  return { entry: { kind: "", id: "", at: "", request: null, salted: new Map() }, body: "" };
}

/** By which the installation's log names the log of this origin. */
export async function logLabelOf(
  origin: string,
  hashMany: HashMany = hashWithWebCrypto,
): Promise<string> {
  const messages = new Messages();
  messages.addText(`countersign log\0${origin}`).end();
  return toBase64Url(await hashMany(messages));
}

export type SaltedText = { entry: LogEntry; salt: string; field: string; text: string };

/** For each, whether the entry holds the salted hash of this text. */
export async function areSalted(
  list: readonly SaltedText[],
  hashMany: HashMany = hashWithWebCrypto,
): Promise<boolean[]> {
  const keyed = list.map(({ salt, field, text }) => ({
    key: saltOf(salt),
    text: `${field}\0${text}`,
  }));
  const hashes = await hmacMany(keyed, hashMany);
  return list.map(({ entry, field }, at) => {
    const said = entry.salted.get(field);
    const hash = typeof said === "string" ? fromBase64Url(said) : null;
    const isSalted = keyed[at]?.key.length === saltBytes;
    return isSalted && hash !== null && isEqual(hash, hashAt(hashes, at));
  });
}

const saltBytes = 32;

/** A salt that isn't one opens nothing. */
function saltOf(salt: string): Uint8Array {
  const bytes = fromBase64Url(salt);
  return bytes?.length === saltBytes ? bytes : utf8("");
}
