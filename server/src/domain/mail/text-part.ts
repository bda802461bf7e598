// The plain-text part of a mail. Others' words stand on their own lines behind "> ", so that they can't pass for ours
// and right-to-left writing reorders nothing around them.

import { inertLines, toInertText } from "./inert-text.ts";
import type { Block, Fact, Letter, ListedRequest, Quote, Words } from "./letter.ts";

const columns = 72;

export function textPart({ heading, blocks, footer }: Letter): string {
  const parts = [
    wrap(heading),
    ...blocks.map(textOfBlock),
    // Not "-- ": programs hide the text after that, and this protects the reader.
    ["----", "countersign", ...footer.flatMap((words) => ["", ...wrap(textOfWords(words))])],
  ];
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function textOfBlock(block: Block): string[] {
  switch (block.kind) {
    case "paragraph":
      return wrap(textOfWords(block.words));
    case "quotes":
      return textOfQuotes(block.quotes);
    case "facts":
      return block.facts.flatMap(textOfFact);
    case "code":
      return [`${block.label}: ${block.code}`, ...wrap(textOfWords(block.words))];
    case "button":
      return [`${block.label}:`, block.url];
    case "request":
      return textOfRequest(block);
    case "verbatim":
      return block.text.trimEnd().split("\n");
    case "commands":
      return block.commands.map((command) => `    ${command}`);
    default:
      return block satisfies never;
  }
}

function textOfRequest({ title, quotes, facts, code, link }: ListedRequest): string[] {
  return [
    title,
    "",
    ...textOfQuotes(quotes),
    "",
    ...facts.flatMap(textOfFact),
    ...(code === null ? [] : [`${code.label}: ${code.code}`]),
    `${link.label}:`,
    link.url,
  ];
}

function textOfQuotes(quotes: readonly Quote[]): string[] {
  return quotes.flatMap((quote, index) => [...(index === 0 ? [] : [""]), ...textOfQuote(quote)]);
}

function textOfQuote({ label, text, isMultiLine }: Quote): string[] {
  const lines = isMultiLine
    ? inertLines(text).map((line) => line.map((piece) => piece.text).join(""))
    : [toInertText(text)];
  const wrapped = lines.flatMap((line) => wrap(line, columns - 2));
  return [`${label}:`, ...wrapped.map((line) => `> ${line}`.trimEnd())];
}

function textOfFact({ label, words, detail }: Fact): string[] {
  const [first = "", ...others] = wrap(`${label}: ${textOfWords(words)}`);
  return [
    first,
    ...others.map((line) => `  ${line}`),
    ...(detail === undefined ? [] : [`  (${detail})`]),
  ];
}

function textOfWords(words: Words): string {
  return words.map((word) => (typeof word === "string" ? word : toInertText(word.theirs))).join("");
}

/** Breaks at spaces, and inside a word only where it alone is longer than a line. */
function wrap(text: string, width = columns): string[] {
  const lines: string[] = [];
  let line: string | null = null;
  for (const word of text.split(" ").flatMap((part) => pieces(part, width))) {
    const isFull: boolean = line !== null && line.length + 1 + word.length > width;
    if (isFull && line !== null) lines.push(line);
    line = isFull || line === null ? word : `${line} ${word}`;
  }
  return [...lines, line ?? ""].map((each) => each.trimEnd());
}

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Never between the parts of one visible character. */
function pieces(word: string, width: number): string[] {
  if (word.length <= width) return [word];
  const found = [""];
  for (const { segment } of characters.segment(word)) {
    const last = found.length - 1;
    const grown = `${found[last]}${segment}`;
    if (grown.length > width && found[last] !== "") found.push(segment);
    else found[last] = grown;
  }
  return found;
}
