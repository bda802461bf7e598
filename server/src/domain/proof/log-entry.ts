// An entry of the log as text. It holds no address and no plain digest but a log's name: a reader learns a kind, ids and
// times, and can check a fact that they are shown together with its salt.

import { createHmac, hash } from "node:crypto";

/** What is known about a fact of the log before it has a place there. */
export type LoggedFact = {
  kind: string;
  /** The event, activity, reviewer, request or key that it is about. */
  id: string;
  at: Date;
  request: string | null;
  /** JSON that holds everything, with `kind` first. */
  fact: string;
  /** One for each request, so that deleting it makes all entries of the request unreadable. */
  salt: Buffer;
  /** Of the payload's own bytes. */
  payload?: Buffer | undefined;
  effective?: Buffer | undefined;
};

export type SaltedField = "fact" | "payload" | "effective" | "checkpoint";

export const saltBytes = 32;

export function salted(salt: Uint8Array, field: SaltedField, text: string): Buffer {
  return createHmac("sha256", salt).update(`${field}\0`).update(text).digest();
}

export function entryOf({ kind, id, at, request, fact, ...rest }: LoggedFact): string {
  const { salt, payload, effective } = rest;
  return JSON.stringify({
    v: 1,
    kind,
    id,
    at: at.toISOString(),
    ...(request === null ? {} : { request }),
    salted: {
      fact: salted(salt, "fact", fact).toString("base64url"),
      ...(payload === undefined ? {} : { payload: payload.toString("base64url") }),
      ...(effective === undefined ? {} : { effective: effective.toString("base64url") }),
    },
  });
}

/**
 * By which the installation's log names a workspace's. A reader who knows the origin finds all of its checkpoints there.
 * Others can count workspaces and their checkpoints, and not tell which is which: the id of a workspace can't be guessed.
 * It isn't salted, because a log that was written anew has the same name, and its operator wouldn't show the salt.
 */
export function logLabel(origin: string): string {
  return hash("sha256", `countersign log\0${origin}`, "base64url");
}

/** The installation's log says which checkpoint a workspace's log has reached. */
export function checkpointEntryOf(checkpoint: {
  origin: string;
  at: Date;
  salt: Buffer;
  body: string;
}): string {
  const { origin, at, salt, body } = checkpoint;
  return JSON.stringify({
    v: 1,
    kind: "checkpoint",
    id: logLabel(origin),
    at: at.toISOString(),
    salted: { checkpoint: salted(salt, "checkpoint", body).toString("base64url") },
  });
}

/**
 * HMAC-SHA256 is two hashes around the message. PostgreSQL, which has the message, can make both, and no payload has to
 * leave it: sha256(outer ‖ sha256(inner ‖ message)).
 */
export function saltedAround(
  salt: Uint8Array,
  field: SaltedField,
): { inner: Buffer; outer: Buffer } {
  const key = Buffer.alloc(hmacBlockBytes);
  key.set(salt);
  const inner = key.map((byte) => byte ^ 0x36);
  return {
    inner: Buffer.concat([inner, Buffer.from(`${field}\0`)]),
    outer: Buffer.from(key.map((byte) => byte ^ 0x5c)),
  };
}

const hmacBlockBytes = 64;
