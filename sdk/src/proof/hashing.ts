// SHA-256 and HMAC-SHA-256 over many messages. Web Crypto hashes by default; a program with a faster way gives its own,
// which may answer at once.

import type { Bytes } from "./bytes.ts";
import { Messages } from "./messages.ts";

/** The SHA-256 of each message in their order, one after the other in one block. */
export type HashMany = (messages: Messages) => Bytes | Promise<Bytes>;

export const hashBytes = 32;
const blockBytes = 64;

export const hashWithWebCrypto: HashMany = async (messages) => {
  const hashes = new Uint8Array(messages.count * hashBytes);
  const each = Array.from({ length: messages.count }, (_, at) => sha256(messages.at(at)));
  (await Promise.all(each)).forEach((hash, at) => {
    hashes.set(hash, at * hashBytes);
  });
  return hashes;
};

export async function sha256(message: Uint8Array): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", message as Bytes));
}

/** A view of one hash of a block. */
export function hashAt(hashes: Bytes, index: number): Bytes {
  return hashes.subarray(index * hashBytes, (index + 1) * hashBytes);
}

export type Keyed = { key: Uint8Array; text: string };

/** HMAC-SHA-256 (RFC 2104) of each text under its key. */
export async function hmacMany(list: readonly Keyed[], hashMany: HashMany): Promise<Bytes> {
  const isLong = ({ key }: Keyed) => key.length > blockBytes;
  if (list.some(isLong)) throw new RangeError("a key of HMAC here has at most 64 bytes");
  const inner = new Messages(list.reduce((sum, { text }) => sum + blockBytes + text.length, 0));
  for (const { key, text } of list) inner.addBytes(padded(key, 0x36)).addText(text).end();
  const hashes = await hashMany(inner);
  const outer = new Messages(list.length * (blockBytes + hashBytes));
  list.forEach(({ key }, at) => {
    outer.addBytes(padded(key, 0x5c)).addBytes(hashAt(hashes, at)).end();
  });
  return hashMany(outer);
}

function padded(key: Uint8Array, byte: number): Bytes {
  const block = new Uint8Array(blockBytes).fill(byte);
  for (let at = 0; at < key.length; at += 1) block[at] = (key[at] as number) ^ byte;
  return block;
}
