// Runs the program as people do, on files in a folder of the test's own, with the issuer's keys as what is known from
// outside, and as of a day after the test exports were written.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Finding } from "../../sdk/src/export/findings.ts";
import { runVerify } from "../src/program.ts";
import { installation, key, writeLines } from "./test-export.ts";

export const folder = mkdtempSync(join(tmpdir(), "countersign-verify-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export function save(text: string): string {
  files += 1;
  const path = join(folder, `file-${files}`);
  writeFileSync(path, text);
  return path;
}

/** A saved log of the installation. */
export function saveLog(entries: readonly string[], origin = installation): string {
  const lines = entries.map((entry, index) =>
    JSON.stringify({ type: "entry", origin, index, entry }),
  );
  return save(`${lines.join("\n")}\n`);
}

const jwks = save(JSON.stringify({ keys: [{ kty: "OKP", kid: key.kid }], revoked: [] }));
export const known = ["--jwks", jwks];
export const asOf = ["--at", "2027-11-17T00:00:00.000Z"];

export type Said = {
  exitCode: number;
  found: string[];
  findings: Finding[];
  notes: string[];
  doubts: string[];
};

/** What is given again counts instead of what is known. */
export function verify(lines: Iterable<string>, ...flags: string[]): Promise<Said> {
  return verifyAlone(lines, ...known, ...flags);
}

export async function verifyAlone(lines: Iterable<string>, ...flags: string[]): Promise<Said> {
  return run("export", saveLines(lines), ...asOf, ...flags);
}

export function saveLines(lines: Iterable<string>): string {
  const path = save("");
  writeLines(path, lines);
  return path;
}

export async function run(...words: string[]): Promise<Said> {
  const { exitCode, text } = await print(...words, "--json");
  const { findings = [], notes = [], doubts = [] } = JSON.parse(text) as Partial<Said>;
  const found = findings.map(({ code, index, request }) =>
    [code, index ?? request].join(" ").trim(),
  );
  return { exitCode, found, findings, notes, doubts };
}

/** As people read it. */
export async function print(...words: string[]): Promise<{ exitCode: number; text: string }> {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  return { exitCode: await runVerify(words, { env: {}, write }), text };
}
