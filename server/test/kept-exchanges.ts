// Exchanges kept as files, to the byte, and the comparison with them. A placeholder stands for a value that is new in
// each run, and only if it has the exact form of such a value: a new key, another order or another form is a difference.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** A message as it travelled. The bytes of texts here are latin1 characters, so that none is lost. */
export type Message = { head: string; body: string };

/** Values that only this run knows, such as a secret, with the names that stand for them. */
export type Known = readonly { value: string; name: string }[];

export type Kept = {
  /** Several exchanges may have one name. Then their bytes must be the same. */
  add(name: string, text: string): void;
  /** The names of exchanges and files below a folder, and where they differ. */
  differencesIn(folder: string): string[];
  /** Replaces all files by the exchanges of this run. */
  writeAll(): Promise<number>;
};

export async function openKept(root: string): Promise<Kept> {
  const files = new Map<string, string>();
  for (const path of await filesIn(root)) {
    files.set(relative(root, path), await readFile(path, "latin1"));
  }
  const told = new Map<string, string[]>();
  return {
    add: (name, text) => void told.set(name, [...(told.get(name) ?? []), text]),
    differencesIn: (folder) => {
      const names = new Set([...files.keys(), ...told.keys()]);
      return [...names]
        .filter((name) => name.startsWith(`${folder}/`))
        .sort()
        .flatMap((name) => differencesOf(name, files.get(name), told.get(name)));
    },
    writeAll: async () => {
      for (const name of files.keys()) await rm(join(root, name));
      for (const [name, [text = ""]] of told) {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), text, "latin1");
      }
      return told.size;
    },
  };
}

async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(?:http|eml|txt)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function differencesOf(name: string, kept?: string, told: string[] = []): string[] {
  if (kept === undefined) return [`${name}: there is no such file. Now it is:\n${told[0]}`];
  if (told.length === 0) return [`${name}: this run has no such exchange`];
  return [...new Set(told)].filter((text) => text !== kept).map((text) => where(name, kept, text));
}

function where(name: string, kept: string, told: string): string {
  let at = 0;
  while (at < kept.length && kept[at] === told[at]) at += 1;
  const around = (text: string) =>
    JSON.stringify(Buffer.from(text.slice(Math.max(0, at - 80), at + 80), "latin1").toString());
  return `${name}, byte ${at}:\n  kept ${around(kept)}\n  now  ${around(told)}`;
}

/** The text of a file for an HTTP message. */
export function httpText({ head, body }: Message, known: Known): string {
  const counted = head.replace(/^(content-length: )(\d+)$/im, (_, name: string, length: string) => {
    assert.equal(Number(length), body.length, "Content-Length is the length of the body");
    return `${name}<length>`;
  });
  return withPlaceholders(`${counted}\r\n\r\n${broken(body)}`, known);
}

/**
 * JSON is written here with a line break after each comma between its parts, so that a difference is a line. It came
 * without any, so the bytes are those of the file without them.
 */
function broken(body: string): string {
  if (/^[[{]/.test(body)) return brokenJson(body);
  return body.replace(
    /(<script type="application\/json"[^>]*>)([^<]*)/,
    (_, tag: string, json: string) => `${tag}${brokenJson(json)}`,
  );
}

function brokenJson(json: string): string {
  assert.doesNotMatch(json, /\n./, "JSON comes on one line");
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|,/g, (part) => (part === "," ? ",\n" : part));
}

/** A time further from now than this isn't a time of this run. */
const runDaysMax = 2;

const forms: readonly [form: RegExp, placeholder: string][] = [
  [/^(date: )\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d (?:GMT|\+0000)(?=\r$)/gim, "$1<date>"],
  [/^(x-request-id: )[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\r$)/gim, "$1<uuid>"],
  [/^(x-service-signature: t=)\d{10}(,v1=)[0-9a-f]{64}(?=\r$)/gim, "$1<unix time>$2<hex>"],
  [/^(webhook-timestamp: )\d{10}(?=\r$)/gim, "$1<unix time>"],
  [/^(webhook-signature: v1,)[A-Za-z0-9+/]{43}=(?=\r$)/gim, "$1<base64>"],
  [/("ticket":")\d{13}\.[A-Za-z0-9_-]{43}(?=")/g, "$1<ticket>"],
  [/^(x-service-receipt: )eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{86}(?=\r$)/gim, "$1<receipt>"],
  [/("receipt":")eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{86}(?=")/g, "$1<receipt>"],
  [/(--_NmP-)[0-9a-f]{32}(?=-Part_\d)/g, "$1<boundary>"],
  [/(; filename="requests-)\d{4}-\d\d-\d\d(?=\.)/g, "$1<day>"],
  [/(\/assets\/icon-)[0-9a-f]{8}(?=\.svg")/g, "$1<hash>"],
  [/("digest":")[\w-]{43}(?=")/g, "$1<digest>"],
  [/("openMs":)\d+/g, "$1<ms>"],
  [/(127\.0\.0\.1:)\d+/g, "$1<port>"],
];

export function withPlaceholders(text: string, known: Known): string {
  const ids = new Map<string, number>();
  const withoutForms = forms.reduce(
    (changed, [form, placeholder]) => changed.replaceAll(form, placeholder),
    known.reduce(withoutKnown, text),
  );
  return withoutForms
    .replaceAll(/\b([a-z]+_)([0-9a-f]{32})\b/g, (_, kind: string, id: string) => {
      if (!ids.has(id)) ids.set(id, ids.size + 1);
      return `${kind}<id ${ids.get(id)}>`;
    })
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g, (time) => {
      const days = Math.abs(Date.parse(time) - Date.now()) / 86_400_000;
      return days < runDaysMax ? "<time>" : time;
    });
}

/** A mail breaks long lines with "=" at their end, also inside of a link. The break stays where it is. */
function withoutKnown(text: string, { value, name }: Known[number]): string {
  assert.match(value, /^[\w-]+$/);
  const pattern = new RegExp([...value].join("(?:=\r\n)?"), "g");
  return text.replaceAll(pattern, (found) => {
    const parts = found.split("=\r\n");
    if (parts.length === 1) return `<${name}>`;
    return parts.map((part, at) => `<${name}, part ${at + 1}: ${part.length}>`).join("=\r\n");
  });
}
