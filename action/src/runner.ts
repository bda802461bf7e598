// What the runner reads: its files for outputs, state and the summary, and the lines of the log. Every text of a stranger
// goes through here, because the runner takes some lines as commands.

import { randomUUID } from "node:crypto";
import { accessSync, appendFileSync, constants } from "node:fs";

export type Fields = Readonly<Record<string, string>>;

/** Throws if it can't be written to. */
export function assertWritable(file: string | undefined, name: string): string {
  if (file === undefined || file === "") {
    throw new Error(`${name} is not set. This runs in GitHub Actions only.`);
  }
  accessSync(file, constants.W_OK);
  return file;
}

/** Between delimiters that nobody can know, so that a value can't end early and set another output. */
export function appendFields(file: string, fields: Fields): void {
  const delimiter = `countersign_${randomUUID()}`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`,
  );
  appendFileSync(file, texts.join(""));
}

/** In a block of preformatted HTML: Markdown has no meaning there. */
export function appendSummary(file: string | undefined, title: string, facts: Fields): void {
  if (file === undefined || file === "") return;
  const lines = Object.entries(facts).map(([name, value]) => `${name}: ${toHtml(oneLine(value))}`);
  appendFileSync(file, `### ${title}\n\n<pre>\n${lines.join("\n")}\n</pre>\n`);
}

/** The log shows stars in its place, in every later step, too. */
export function mask(secret: string): void {
  for (const line of secret.split(/[\r\n]+/).filter((each) => each.trim() !== "")) {
    process.stdout.write(`::add-mask::${escapeData(line)}\n`);
  }
}

export function say(text: string): void {
  process.stdout.write(`Countersign: ${oneLine(text)}\n`);
}

/** Shown beside the run. */
export function complain(level: "error" | "warning", text: string): void {
  process.stdout.write(`::${level} title=Countersign::${escapeData(oneLine(text))}\n`);
}

const charactersMax = 3_000;

/**
 * One line without control characters. The runner reads `::command::` at the start of a line, and the older `##[command]`
 * anywhere in one.
 */
export function oneLine(text: string): string {
  return [...text]
    .slice(0, charactersMax)
    .join("")
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`)
    .replaceAll("##[", "#\\u{23}[");
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function toHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
