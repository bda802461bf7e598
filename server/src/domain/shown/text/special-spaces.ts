// Decides where typography puts special spaces: before French punctuation, between a number and its unit, between
// groups of three digits, and between the words of a sentence. Inside an address, an account or an identifier they
// hide.

import { once } from "./once.ts";
import type { Evidence } from "./text-evidence.ts";
import { cjk } from "./writing-systems.ts";

export type SpacePlace = {
  /** The characters around it, empty at an edge of the text. */
  before: string;
  after: string;
  text: string;
  at: number;
  /** A chip stands before it, and the text it belongs to ends there. */
  isBehindChip: boolean;
  evidence: Evidence;
};

export const noBreakSpaces = "\u00A0\u202F\u2009";
/** Hair, figure and punctuation space: rare, and never right in a value of one word. */
export const rareSpaces = "\u2007\u2008\u200A";

const pieceCharactersMax = 64;

export function isNoBreakSpaceInPlace(place: SpacePlace): boolean {
  if (!hasWordsAround(place)) return false;
  const pieces = piecesAround(place);
  if (isBesideSign(pieces, place)) return true;
  if (place.isBehindChip || isInAddress(pieces)) return false;
  return isInNumber(pieces) || isBetweenWords(pieces, place);
}

export function isRareSpaceInPlace(place: SpacePlace): boolean {
  if (!hasWordsAround(place) || !place.evidence.hasSpaces() || place.isBehindChip) return false;
  const pieces = piecesAround(place);
  if (isInAddress(pieces)) return false;
  return isGrouping(pieces) || /^[–—]/.test(place.after) || /^[–—]/.test(place.before);
}

type Pieces = { left: string; right: string };

/** The text on both sides, up to the next white space of any kind. */
function piecesAround({ text, at }: SpacePlace): Pieces {
  let start = at;
  let end = at + 1;
  while (at - start < pieceCharactersMax && isInPiece(text, start - 1)) start -= 1;
  while (end - at <= pieceCharactersMax && isInPiece(text, end)) end += 1;
  return { left: text.slice(start, at), right: text.slice(at + 1, end) };
}

function isInPiece(text: string, at: number): boolean {
  const character = text.charAt(at);
  return character > " " && (character < "\x7F" || !/\s/.test(character));
}

const visible = once(() => /^[\p{L}\p{M}\p{N}\p{P}\p{S}]/u);

/** Not where it would split an address, nor at the quotes of a JSON string. */
function hasWordsAround({ before, after }: SpacePlace): boolean {
  if (/^["/\\@]/.test(before) || /^["/\\@.]/.test(after)) return false;
  return visible().test(before) && visible().test(after);
}

// A sign that ends a piece, such as the ? of a French question. A letter right behind it would belong to a token.
const closingSign = /^(?:[:;!?»%‰°€£¥₽₹₺₴₪$…]|[–—])(?=$|[.,;:!?»)\]["'”])/;
const openingSign = /(?:^|[(["'„“])(?:[«–—§№#€£¥₽₹₺₴₪$]|[nN]°)$/;

function isBesideSign({ left, right }: Pieces, { isBehindChip }: SpacePlace): boolean {
  if (closingSign.test(right) || right === "°C" || right === "°F") return true;
  return !isBehindChip && openingSign.test(left);
}

function isInAddress({ left, right }: Pieces): boolean {
  return /:\/\/|@/.test(left) || /:\/\/|@/.test(right);
}

const number = /^[(["'„“«]?[-+−±~≈]?[$€£¥₹]?[0-9][0-9.,'’]*$/;
const unit =
  /^(?:[kcdmµμnMGT]?[gmlLsWVAJNBb]|[kMGTmµμ]?(?:Hz|Wh|Pa|bit|Ω|eV)|[KMGT]i?B|h|min|km\/h|m\/s|px|pt|dpi|°[CFK]?|m[²³]|cm[²³]|km²|ha|t|K|EUR|USD|GBP|CHF|JPY|CNY|INR|RUB|PLN|CZK|SEK|NOK|DKK|kr|zł|Kč|Ft|lei|руб|р|коп|г|кг|км|м|см|мм|ч|мин|шт|Mio|Mrd|Uhr|[ap]m|[AP]M|Std|Tage?)(?=$|[^\p{L}\p{N}_@\\])/u;
const currency =
  /^[(["'„“«]?(?:EUR|USD|GBP|CHF|JPY|CNY|INR|RUB|PLN|CZK|SEK|NOK|DKK|Rs\.?|p\.|S\.)$/;

function isInNumber(pieces: Pieces): boolean {
  const { left, right } = pieces;
  return (
    isGrouping(pieces) ||
    (number.test(left) && unit.test(right)) ||
    (currency.test(left) && /^[0-9]/.test(right))
  );
}

function isGrouping({ left, right }: Pieces): boolean {
  return (
    /^[^\p{L}\p{N}_]{0,4}[0-9]{1,3}$/u.test(left) && /^[0-9]{3}(?![\p{L}\p{N}_@])/u.test(right)
  );
}

const word = once(() => /^[\p{L}\p{M}\p{N}\p{Ps}\p{Pe}\p{Pi}\p{Pf}.,;:!?'’"…%&+\-–—]+$/u);
/** Within a piece these belong to a host, a time, an option or an identifier. */
const tokenSign = once(() => /[.:]\p{L}|^[-+&%.,;:!?]|[\p{L}\p{N}]:\p{N}/u);

function isBetweenWords(pieces: Pieces, { before, after, evidence }: SpacePlace): boolean {
  if (cjk().test(before) || cjk().test(after)) return true;
  if (mongolian().test(before) && mongolian().test(after)) return true;
  if (!evidence.hasSpaces() && !evidence.hasSeveralWords()) return false;
  const isWord = (piece: string) => word().test(piece) && !tokenSign().test(piece);
  const hasDigits = (piece: string) => /\p{N}/u.test(piece);
  const isSplitCode = hasDigits(pieces.left) && hasDigits(pieces.right);
  return isWord(pieces.left) && isWord(pieces.right) && !isSplitCode;
}

const mongolian = once(() => /^\p{Script=Mongolian}/u);
