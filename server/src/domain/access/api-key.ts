// API keys: `cs_`, 43 random base62 characters (256 bits), and a checksum of 6.
// The checksum lets a mistyped key fail without asking the database; only the SHA-256 is ever stored.

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const prefix = "cs_";
const randomCharacters = 43;
const checksumCharacters = 6;
const keyPattern = /^cs_[0-9A-Za-z]{49}$/;
/** Bytes at or above this are skipped: taking them modulo 62 would favour some characters. */
const unbiasedByteLimit = 248;

/** The number of random bytes for formatApiKey: enough that skipping biased ones never runs dry. */
export const apiKeyRandomBytes = 96;

export function formatApiKey(random: Uint8Array): string {
  const characters = [...random]
    .filter((byte) => byte < unbiasedByteLimit)
    .slice(0, randomCharacters)
    .map((byte) => alphabet[byte % alphabet.length])
    .join("");
  if (characters.length < randomCharacters) throw new Error("too few random bytes for an API key");
  return prefix + characters + checksumOf(characters);
}

/** True for a text with the form and checksum of a key. It may still be unknown or revoked. */
export function isWellFormedApiKey(text: string): boolean {
  if (!keyPattern.test(text)) return false;
  const characters = text.slice(prefix.length, prefix.length + randomCharacters);
  return text.endsWith(checksumOf(characters));
}

export function digestOfApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

export function lastFourOfApiKey(key: string): string {
  return key.slice(-4);
}

function checksumOf(characters: string): string {
  let rest = crc32(characters);
  let checksum = "";
  while (checksum.length < checksumCharacters) {
    checksum = `${alphabet[rest % alphabet.length]}${checksum}`;
    rest = Math.floor(rest / alphabet.length);
  }
  return checksum;
}
