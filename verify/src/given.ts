// What a command was given: files, addresses, and words. Without them nothing can be said, which is neither yes nor no.

import { open, readFile, writeFile } from "node:fs/promises";
import { isKeySet, type KeySet } from "../../sdk/src/proof/key-set.ts";

/** The command can't tell. The program ends with 2. */
export class CannotTell extends Error {}

export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CannotTell(`${path} can't be read: ${wordsOf(error)}`);
  }
}

/** A file that is there already is left alone: it may be the checkpoint of last time. */
export async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx" });
  } catch (error) {
    throw new CannotTell(`${path} can't be written: ${wordsOf(error)}`);
  }
}

export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    throw new CannotTell(`${path} can't be read: ${wordsOf(error)}`);
  }
}

export async function isExport(path: string): Promise<boolean> {
  const start = '{"type":"export"';
  const file = await open(path).catch((error) => {
    throw new CannotTell(`${path} can't be read: ${wordsOf(error)}`);
  });
  try {
    const { buffer } = await file.read(Buffer.alloc(start.length), 0, start.length, 0);
    return buffer.toString() === start;
  } finally {
    await file.close();
  }
}

/** From a file, or from the address of a service. */
export async function readKeys(place: string): Promise<KeySet> {
  const text = /^https?:\/\//.test(place) ? await fetchText(place) : await readText(place);
  const set = parse(text);
  if (isKeySet(set)) return set;
  throw new CannotTell(`${place} holds no keys: give the answer of /.well-known/jwks.json`);
}

export async function fetchText(
  url: string,
  headers: Record<string, string> = {},
): Promise<string> {
  return new TextDecoder().decode(await fetchBytes(url, headers));
}

export async function fetchBytes(
  url: string,
  headers: Record<string, string> = {},
): Promise<Uint8Array> {
  const bytes = await findBytes(url, headers);
  if (bytes === null) throw new CannotTell(`${url} can't be had: it answered 404`);
  return bytes;
}

/** Null if there is nothing at this address. */
export async function findText(url: string): Promise<string | null> {
  const bytes = await findBytes(url, {});
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

async function findBytes(url: string, headers: Record<string, string>): Promise<Uint8Array | null> {
  try {
    const response = await fetch(url, { headers, redirect: "error" });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    if (response.status === 404) return null;
    throw new Error(`it answered ${response.status}`);
  } catch (error) {
    throw new CannotTell(`${url} can't be had: ${wordsOf(error)}`);
  }
}

/** In milliseconds. */
export function timeAt(time: string): number {
  const at = Date.parse(time);
  if (Number.isNaN(at)) throw new CannotTell(`--at ${time} is no time: write 2026-12-24T09:00Z`);
  return at;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
