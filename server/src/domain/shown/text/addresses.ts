// Finds oddities in the addresses of a text: hosts beyond ASCII with their name on the wire, user names that pose as
// hosts, false slashes, hosts written as a number, and tabs and line breaks that programs drop.

import { readingOf } from "./confusables.ts";
import { judgeWord } from "./lookalike-words.ts";
import type { Marked } from "./marks.ts";
import { once } from "./once.ts";
import { decodedHost } from "./punycode.ts";
import type { Evidence } from "./text-evidence.ts";
import { scriptOf } from "./writing-systems.ts";

export type Placed = Marked & { at: number };

const beyondAscii = /\P{ASCII}/u;
/** Programs and international domain names take these for a full stop. */
export const dots = String.raw`.\uFF0E\uFE52\u2024\u3002\uFF61`;
const colons = String.raw`:\uFF1A\uFE55\uFE13\u2236\uA789\u02F8\u205A\uFE30`;
const slashes = String.raw`\/\\\uFF0F\uFF3C\u2044\u2215\u29F8\u2571\u27CB\u2216\u29F5\u29F9\uFE68`;
const nameCharacters = String.raw`\p{L}\p{M}\p{N}_\-${dots}`;
// Where a host must stand, signs belong to it: some look like the slash that would end it. So do the other parts of
// emoji, because no mark may stand inside one.
const hostCharacters = String.raw`${nameCharacters}[\p{S}--\p{ASCII}]\u200D\u{E0020}-\u{E007F}`;
// Where an end is searched, each pattern is one character: a loop over a long text could overflow its stack.
const nameEnd = once(() => new RegExp(`[^${nameCharacters}]`, "gv"));
const hostEnd = once(() => new RegExp(`[^${hostCharacters}]`, "gv"));
const userInfoEnd = once(
  () => new RegExp(`[^${hostCharacters}${slashes.slice(4)}:~%!$\\&*+=,;@\\uFF20\\uFE6B]`, "gv"),
);

/** The characters before a host: the slashes of an address, or the @ of a mailbox, but not the one of @somebody. */
const addressMark = once(
  () =>
    new RegExp(
      `(?<scheme>(?<![\\p{L}\\p{N}])(?:https?|wss?|ftp))?[${colons}](?<slashes>[${slashes}]{1,8})|(?<bare>(?<![\\p{L}\\p{N}])(?:https?|wss?|ftp)):(?=[A-Za-z0-9\\-]{1,63}\\.[A-Za-z])|(?<at>(?<=[^\\s\\p{Ps}\\p{Pi}<,;\\/])[@\\uFF20\\uFE6B])`,
      "giv",
    ),
);

/** This check is much cheaper than taking a text apart. */
export const mayHoldAddress = once(
  () => new RegExp(`[${colons}][${slashes}]|[@\\uFF20\\uFE6B]|https?:|xn--`, "iv"),
);

/** In the order in which they stand. The marks never overlap. */
export function* addressesIn(text: string, evidence: Evidence): Generator<Placed> {
  let end = 0;
  const whole = { text, evidence, userInfoAt: userInfoFinder(text) };
  for (const match of text.matchAll(addressMark())) {
    if (match.index < end) continue;
    for (const placed of addressAt(match, whole)) {
      yield placed;
      end = placed.at + placed.text.length;
    }
  }
}

type Whole = { text: string; evidence: Evidence; userInfoAt: (start: number) => number | null };

function* addressAt(
  match: RegExpExecArray,
  { text, evidence, userInfoAt }: Whole,
): Generator<Placed> {
  const { scheme, slashes: written = "", bare, at } = match.groups ?? {};
  const start = match.index + match[0].length;
  if (at !== undefined) return yield* hostMarks(text, start, { evidence, isWeb: false });
  const isWeb = (scheme ?? bare) !== undefined;
  if (!isWeb && written.length < 2) return;
  const broken = brokenAt(text, start);
  if (broken !== null) return yield { at: start, ...broken };
  const userEnd = userInfoAt(start);
  const hostStart = userEnd ?? start;
  if (isWeb && written !== "//")
    yield* slashMarks(text, { at: start - written.length, written, hostStart });
  else if (/[^/\\]/.test(written)) yield separatorMark(written, start - written.length);
  const user =
    userEnd === null
      ? null
      : userMark(text.slice(start, userEnd), start, hostNameAt(text, userEnd));
  if (user !== null) yield user;
  yield* hostMarks(text, hostStart, { evidence, isWeb });
}

const brokenCharactersMax = 2_000;
// After a line break, the rest must begin with a sign that neither ends nor begins a sentence. After a tab a host is
// enough, but not a word, which is the next column of a table.
const brokenAddress =
  /^(?<seen>[^\s/\\?#"'<>]{1,300})(?<breaks>\t{1,8}(?=[@.:]|[A-Za-z0-9-]{1,63}\.[A-Za-z])|[\t\n]{1,8}(?=[@.:]))(?<rest>[^\s"'<>]{1,300}(?:[\t\n]{1,8}[@.:][^\s"'<>]{1,300}){0,4})/;

/** Programs drop tabs and line breaks from an address, so one that seems to end there may continue. */
function brokenAt(text: string, start: number): Marked | null {
  const match = brokenAddress.exec(text.slice(start, start + brokenCharactersMax));
  const { seen = "", breaks = "", rest = "" } = match?.groups ?? {};
  // @ann in the next line is a person.
  if (seen === "" || (/^@[^.:/?#]*$/.test(rest) && text.length > start + (match?.[0].length ?? 0)))
    return null;
  const to = calledHost(seen + rest.replaceAll(/[\t\n]/g, ""));
  if (to === null || to.includes("..") || to === calledHost(seen)) return null;
  const mark = { kind: "leads", to, by: "break" } as const;
  return { kind: "marked", text: seen + breaks, mark, isQuiet: false };
}

function calledHost(address: string): string | null {
  const url = `http://${address}`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}

/** Whether the line before this place ends in an address that the next line could continue. */
export function isBreakInAddress(text: string, at: number): boolean {
  return (
    /^\r?\n[\t\n]{0,8}[@.:]/.test(text.slice(at, at + 11)) &&
    /:[/\\]{2}[^\s/\\?#"'<>]{1,300}$/.test(text.slice(Math.max(0, at - 310), at))
  );
}

/**
 * Finds where the host begins in https://name:password@host; null when there is no name before it. Many addresses may
 * share one long run of such characters, so the run is measured once.
 */
function userInfoFinder(text: string): (start: number) => number | null {
  let run = { end: -1, host: -1 };
  return (start) => {
    if (start > run.end) {
      const end = indexOf(userInfoEnd(), text, start);
      const name = text.slice(start, end);
      const signs = ["@", "\uFF20", "\uFE6B"].map((sign) => name.lastIndexOf(sign));
      run = { end, host: start + Math.max(...signs) + 1 };
    }
    return run.host > start ? run.host : null;
  };
}

/** A plain name is a sign-in; one with a dot, a slash or a percent sign poses as the host. */
function userMark(user: string, at: number, host: string): Placed | null {
  const [name = ""] = user.slice(0, Math.min(user.length - 1, userCharactersMax + 1)).split(":");
  const isPlain = name.length <= userCharactersMax && !hostLike().test(name);
  // The last @ counts: the text before it, password included, must not look like the host.
  const before = user.slice(0, -1);
  const [head, tail] = [before.slice(0, searchedMax), before.slice(-searchedMax)];
  const posesAsHost = head.includes("@") || tail.includes("@") || /\.\p{L}{2,24}$/u.test(tail);
  if (isPlain && !posesAsHost) return null;
  const mark = { kind: "leads", to: host, by: "userInfo" } as const;
  return { at, kind: "marked", text: user, mark, isQuiet: false };
}

const userCharactersMax = 64;
/** At either end: many addresses may share one long run. */
const searchedMax = 254;
const hostLike = once(() => new RegExp(`[${dots}][\\p{L}\\p{N}]|[${slashes}%]`, "v"));

/** Browsers take any number of slashes of either kind for two. */
function* slashMarks(
  text: string,
  { at, written, hostStart }: { at: number; written: string; hostStart: number },
): Generator<Placed> {
  if (/[^/\\]/.test(written)) return yield separatorMark(written, at);
  const to = hostNameAt(text, hostStart);
  if (to === "") return;
  // Without any slash, the colon leads there.
  const [start, sign] = written === "" ? [at - 1, ":"] : [at, written];
  yield {
    at: start,
    kind: "marked",
    text: sign,
    mark: { kind: "leads", to, by: "slashes" },
    isQuiet: false,
  };
}

function separatorMark(text: string, at: number): Placed {
  const codePoint = [...text].find((one) => !/[/\\]/.test(one))?.codePointAt(0) ?? 0;
  const reads = readingOf(text);
  return {
    at,
    kind: "marked",
    text,
    mark: { kind: "separator", reads, codePoint },
    isQuiet: false,
  };
}

/** The host as it will be resolved, or as it is written if that is no host. */
function hostNameAt(text: string, start: number): string {
  const name = startingAt(text, start, nameEnd()).slice(0, hostCharactersMax);
  const url = `http://${name}`;
  return name !== "" && URL.canParse(url) ? new URL(url).hostname : name;
}

type HostOptions = { evidence: Evidence; isWeb: boolean };

function* hostMarks(
  text: string,
  start: number,
  { evidence, isWeb }: HostOptions,
): Generator<Placed> {
  const host = hostAt(text, start, evidence);
  if (host !== null) yield { at: start, ...host };
  else if (isWeb) {
    const number = numericHostAt(text, start);
    if (number !== null) yield { at: start, ...number };
  }
  const end = start + (host?.text.length ?? startingAt(text, start, hostEnd()).length);
  if (isWeb && text[end] === "\\") {
    const mark = { kind: "separator", reads: "/", codePoint: 0x5c } as const;
    yield { at: end, kind: "marked", text: "\\", mark, isQuiet: false };
  }
}

/** Such as http://3232235777/ or http://0x7f.1/: the browser turns it into an address of four numbers. */
function numericHostAt(text: string, start: number): Marked | null {
  const name = startingAt(text, start, nameEnd());
  if (!/^(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}$/i.test(name)) return null;
  if (name.length > 64 || !URL.canParse(`http://${name}`)) return null;
  const to = new URL(`http://${name}`).hostname;
  if (to === name) return null;
  return { kind: "marked", text: name, mark: { kind: "leads", to, by: "number" }, isQuiet: false };
}

/** The longest piece that is a host; null if it is none, or a plain one. */
function hostAt(text: string, start: number, evidence: Evidence): Marked | null {
  const longest = startingAt(text, start, hostEnd());
  if (!beyondAscii.test(longest)) return encodedHostOf(longest, evidence);
  return hostOf(longest, evidence) ?? hostOf(startingAt(text, start, nameEnd()), evidence);
}

/** No host name is longer, and translating a very long one would take very long. */
export const hostCharactersMax = 253;
const dotsAtEnd = new RegExp(`[${dots}]+$`, "v");

/** A host beyond ASCII, with its name on the wire. */
export function hostOf(name: string, evidence: Evidence): Marked | null {
  if (name.length > hostCharactersMax) return null;
  const text = name.replace(dotsAtEnd, "");
  const url = `http://${text}`;
  if (!beyondAscii.test(text) || !URL.canParse(url)) return null;
  const ascii = new URL(url).hostname;
  const reads = hostReading(text, evidence);
  const isQuiet = reads === null && isHonest(text, evidence);
  return { kind: "marked", text, mark: { kind: "host", ascii, reads }, isQuiet };
}

/** A host in the form of the wire, xn--…, with the letters it stands for. */
export function encodedHostOf(name: string, evidence: Evidence): Marked | null {
  const text = name.replace(dotsAtEnd, "");
  if (text.length > hostCharactersMax || !/(?:^|\.)xn--/i.test(text)) return null;
  const decoded = decodedHost(text);
  if (decoded === null) return null;
  const imitated = hostReading(decoded, evidence);
  const isQuiet = imitated === null && isHonest(decoded, evidence);
  const mark = { kind: "host", ascii: text, reads: imitated ?? decoded } as const;
  return { kind: "marked", text, mark, isQuiet };
}

/** The plain host that a reader would take it for, or null. */
function hostReading(host: string, evidence: Evidence): string | null {
  const reading = readingOf(host).toLowerCase().replaceAll(anyDots(), ".");
  return !beyondAscii.test(reading) && !(host.includes("\u0131") && evidence.hasTurkish())
    ? reading
    : null;
}

const anyDots = once(() => new RegExp(`[${dots}]`, "gv"));
const oddInHost = once(
  () =>
    new RegExp(
      `[${dots.slice(1)}${slashes}]|[^\\p{L}\\p{M}\\p{N}\\p{Emoji}.\\-_\\u200D\\uFE0F]`,
      "v",
    ),
);

/** Each part is in one script, and everything in it reads as it is written. */
function isHonest(host: string, evidence: Evidence): boolean {
  const isInCjk = /[\u3040-\u30FF\u4E00-\u9FFF]/.test(host);
  if (oddInHost().test(isInCjk ? host.replaceAll(/[\u3002\uFF0E\uFF61]/g, ".") : host))
    return false;
  const labels = host.split(anyDots());
  if (hasForeignEnd(labels)) return false;
  return labels.every((label) => {
    const judged = judgeWord(label, evidence);
    return judged === null || judged.isQuiet;
  });
}

/** Such as google.сом: a plain name under a top-level domain of another alphabet. */
function hasForeignEnd(labels: readonly string[]): boolean {
  const [end = ""] = labels.slice(-1);
  const names = labels.slice(0, -1).filter((label) => label !== "www");
  return (
    /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(end) &&
    names.some((name) => /[A-Za-z]/.test(name))
  );
}

export function mixesScripts(label: string): boolean {
  const scripts = new Set(
    [...label].filter((letter) => /\p{L}/u.test(letter)).map((letter) => scriptOf(letter)),
  );
  return ["Latin", "Cyrillic", "Greek"].filter((script) => scripts.has(script)).length > 1;
}

/** The piece up to the first match of a pattern, bounded at a length that is too long for a host. */
function startingAt(text: string, start: number, pattern: RegExp): string {
  const piece = text.slice(start, start + hostCharactersMax + 1);
  return piece.slice(0, indexOf(pattern, piece, 0));
}

/** The place of the first match of a pattern from `start` on, or the end of the text. */
export function indexOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.exec(text)?.index ?? text.length;
}
