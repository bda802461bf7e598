// Writes server/src/domain/shown/text/confusables-data.ts from Unicode's confusables:
//
//   node scripts/confusables.ts FILE
//
// FILE is Unicode's confusables.txt, or src/tables.rs of the crate unicode-security, which holds the same.
// Decision 28 says which one is in use and what is left out.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Pair = { codePoint: number; prototype: string };

const target = join(import.meta.dirname, "../server/src/domain/shown/text/confusables-data.ts");

/** Symbols that people read as letters. Others, such as the union sign, have a use of their own between letters. */
const letterSymbols = /[\u212E\u2223\u2373\u2374\u237A]/;

/** Unicode lists some of the small capitals only. Each is read as its letter. */
const smallCapitals =
  "\u1D00a \u0299b \u1D05d \u1D07e \uA730f \u0262g \u029Ch \u1D0Aj \u1D0Bk \u029Fl \u1D0Dm \u0274n \u1D18p \uA7AFq \u0280r \u1D1Bt";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("Name a confusables.txt, or the tables.rs of the crate.");
const source = await readFile(file, "utf8");
const isCrate = source.includes("pub mod confusable_detection");
const listed = isCrate ? pairsOfCrate(source) : pairsOfUnicode(source);
const added = smallCapitals.split(" ").map(([letter = "", prototype = ""]) => ({
  codePoint: letter.codePointAt(0) ?? 0,
  prototype,
}));
const isAdded = new Set(added.map(({ codePoint }) => codePoint));
const pairs = [...listed.filter(({ codePoint }) => !isAdded.has(codePoint)), ...added].filter(
  isOfUse,
);
if (pairs.length < 500) throw new Error(`Only ${pairs.length} pairs were found in ${file}.`);
await writeFile(
  target,
  moduleOf(pairs, isCrate ? versionOfCrate(source) : versionOfUnicode(source)),
);

function pairsOfUnicode(text: string): Pair[] {
  return [...text.matchAll(/^([0-9A-F]+) ;\t([0-9A-F ]+?) ;\t/gm)].map(
    ([, from = "", to = ""]) => ({
      codePoint: Number.parseInt(from, 16),
      prototype: textOfCodes(to.split(" ")),
    }),
  );
}

function pairsOfCrate(text: string): Pair[] {
  const start = text.indexOf("pub mod confusable_detection");
  const table = text.slice(start, text.indexOf("pub mod ", start + 1));
  return [...table.matchAll(/\('\\u\{([0-9a-f]+)\}',\s*&\[([^\]]*)\]\)/g)].map(
    ([, from = "", to = ""]) => ({
      codePoint: Number.parseInt(from, 16),
      prototype: textOfCodes([...to.matchAll(/\\u\{([0-9a-f]+)\}/g)].map(([, code = ""]) => code)),
    }),
  );
}

function textOfCodes(codes: readonly string[]): string {
  return codes.map((code) => String.fromCodePoint(Number.parseInt(code, 16))).join("");
}

function versionOfUnicode(text: string): string {
  return /^# Version: ([0-9.]+)/m.exec(text)?.[1] ?? "unknown";
}

function versionOfCrate(text: string): string {
  const found = /UNICODE_VERSION: \(u64, u64, u64\) = \((\d+), (\d+), (\d+)\)/.exec(text);
  return found === null ? "unknown" : found.slice(1).join(".");
}

function isOfUse({ codePoint, prototype }: Pair): boolean {
  const character = String.fromCodePoint(codePoint);
  // Normalization already knows the others, and confusables.ts knows the value of a digit of another script.
  const isKnown = codePoint < 0x80 || character.normalize("NFKC") !== character;
  if (isKnown || /\p{Nd}/u.test(character)) return false;
  if (/^[A-Za-z0-9]$/.test(prototype)) {
    return /[\p{L}\p{N}]/u.test(character) || letterSymbols.test(character);
  }
  return /^[/\\:.,_-]$/.test(prototype) && /[\p{P}\p{S}]/u.test(character);
}

/** Each pair as the distance from the one before, in base 36, and its look. */
function moduleOf(unsorted: readonly Pair[], version: string): string {
  let before = 0;
  const sorted = unsorted.toSorted((one, other) => one.codePoint - other.codePoint);
  const pieces = sorted.map(({ codePoint, prototype }) => {
    const distance = (codePoint - before).toString(36);
    before = codePoint;
    return distance + prototype;
  });
  const lines: string[] = [];
  for (const piece of pieces) {
    const line = lines.at(-1);
    if (line === undefined || line.length + piece.length > 108) lines.push(piece);
    else lines[lines.length - 1] = `${line} ${piece}`;
  }
  return `// Written by scripts/confusables.ts from Unicode's confusables, version ${version}. Decision 28 says how it is read.
// Copyright © 1991 and later, Unicode, Inc. Distributed under the Unicode License v3 (Unicode-3.0).

export const confusablesVersion = "${version}";

/** ${sorted.length} pairs in the order of their code points: the distance from the one before, then what it looks like. */
export const confusablePairs = \`
${lines.join("\n").replaceAll("\\", "\\\\")}
\`;
`;
}
