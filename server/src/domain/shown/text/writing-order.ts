// Keeps right-to-left letters from moving the text beside them. A value is cut into pieces that stand from left to
// right in their stored order; within a piece of Hebrew or Arabic its own order holds.

import { once } from "./once.ts";

export type OrderedPiece = {
  text: string;
  /** Null for left-to-right text. A piece with a direction must be isolated from the others. */
  direction: "rtl" | "ltr" | null;
};

const ranges = String.raw`\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}`;
/** Arabic digits run from left to right, but two numbers of them swap places around a space. */
const arabicDigits = String.raw`\u0660-\u0669\u{10D30}-\u{10D39}`;
const letters = String.raw`[[${ranges}]--[\p{Nd}\p{P}\p{M}\p{Cn}\p{Cf}\u066B\u066C]]`;
const piece = once(
  () =>
    new RegExp(
      `(?<words>${letters}(?:[\\p{M}${letters}]|(?: {1,8}|[\\u200C-\\u200F\\u061C\\u00A0])(?=${letters})){0,2047})|(?<number>[${arabicDigits}](?:[${arabicDigits}\\u066B\\u066C]|[.,](?=[${arabicDigits}])){0,63})|(?<sign>[[${ranges}]--[\\p{M}\\p{Nd}]]{1,64})`,
      "gv",
    ),
);
const anyOfThem = once(() => new RegExp(letters, "v"));
const maybe = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\ud802\ud803\ud83a\ud83b]/;

/** Whether some character could change the order of its neighbours. False for most texts, after one quick check. */
export function mayReorder(text: string): boolean {
  return maybe.test(text);
}

export function hasRightToLeft(text: string): boolean {
  return maybe.test(text) && anyOfThem().test(text);
}

export function piecesInOrder(text: string): OrderedPiece[] {
  if (!maybe.test(text)) return [{ text, direction: null }];
  const pieces: OrderedPiece[] = [];
  let end = 0;
  for (const { 0: found, index, groups } of text.matchAll(piece())) {
    if (index > end) pieces.push({ text: text.slice(end, index), direction: null });
    pieces.push({ text: found, direction: groups?.number === undefined ? "rtl" : "ltr" });
    end = index + found.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), direction: null });
  return pieces;
}

/** Whether right-to-left words in a text could move something else in it: digits, Latin letters, signs. */
export function mixesDirections(text: string): boolean {
  return (
    hasRightToLeft(text) &&
    piecesInOrder(text).some(({ text: part, direction }) => {
      return direction !== "rtl" && /[^\s\p{Cf}]/u.test(part);
    })
  );
}

/** Prose runs the way most of its words do: one letter at its start can't turn it, and an address is no word. */
export function isMainlyRightToLeft(text: string): boolean {
  if (!maybe.test(text)) return false;
  let balance = 0;
  for (const word of text.split(/\s+/)) {
    if (!anyLetter().test(word) || isPath(word)) continue;
    balance += hasRightToLeft(word) ? 1 : -1;
  }
  return balance > 0;
}

const anyLetter = once(() => /\p{L}/u);

export type ProsePiece = { text: string; isToken: boolean };

const path = once(() => /[/\\@_=?&#~]|[\p{L}\p{N}][.:][\p{L}\p{N}]/u);
const number = once(
  () =>
    /(?:(?<![\p{L}\p{M}])[-+−]?[$€£¥₪₹]?)?[A-Za-z\p{Nd}](?:[A-Za-z\p{Nd}]|[.,:'’+\-\u066B\u066C](?=[A-Za-z\p{Nd}])){0,255}[%‰€$₪]?/gu,
);
const hasDigit = once(() => /\p{Nd}/u);

/** Whether a piece without spaces is an address, a path or the like, whose parts must keep their order. */
export function isPath(token: string): boolean {
  return path().test(token);
}

/** The numbers in a piece of prose that is no path. Each must stand for itself. */
export function numbersIn(text: string): ProsePiece[] {
  if (!hasDigit().test(text)) return [{ text, isToken: false }];
  const pieces: ProsePiece[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(number())) {
    if (!hasDigit().test(found)) continue;
    if (index > end) pieces.push({ text: text.slice(end, index), isToken: false });
    pieces.push({ text: found, isToken: true });
    end = index + found.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isToken: false });
  return pieces;
}
