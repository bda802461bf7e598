// What a character looks like when it is read as plain ASCII, by Unicode's own list (decision 28), and what a digit of
// any script means. How much of a text looks like something else is the business of lookalikes.ts.

import { confusablePairs } from "./confusables-data.ts";
import { once } from "./once.ts";

const plainByCodePoint = once(() => {
  const plain = new Map<number, string>();
  let codePoint = 0;
  for (const pair of confusablePairs.trim().split(/\s+/)) {
    codePoint += Number.parseInt(pair.slice(0, -1), 36);
    plain.set(codePoint, plainForCase(codePoint, pair.slice(-1)));
  }
  return plain;
});

/** Unicode writes l for all that looks like a stroke; a capital one is read as I. */
function plainForCase(codePoint: number, plain: string): string {
  return plain === "l" && /\p{Lu}/u.test(String.fromCodePoint(codePoint)) ? "I" : plain;
}

/** The plain character that this one looks like; undefined when it looks like none, or is plain itself. */
export function plainOf(character: string): string | undefined {
  return plainByCodePoint().get(character.codePointAt(0) ?? 0);
}

/** All that look like this plain character. */
export function charactersLike(plain: string): string[] {
  const alike = [...plainByCodePoint()].filter(([, one]) => one === plain);
  return alike.map(([codePoint]) => String.fromCodePoint(codePoint));
}

const decimalDigit = once(() => /^\p{Nd}$/u);

/** The value of a digit of any script. Each script has its ten in a row, and mathematics has five such rows. */
export function digitValueOf(digit: string): number {
  const codePoint = digit.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (codePoint - zero < 50 && decimalDigit().test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (codePoint - zero) % 10;
}

/** The text as it reads: plain letters for those that look like them, plain digits for those that mean them. */
export function readingOf(text: string): string {
  let reading = "";
  for (const character of text.normalize("NFKC")) {
    const plain = character < "\x80" ? character : plainOf(character);
    if (plain !== undefined) reading += plain;
    else reading += decimalDigit().test(character) ? digitValueOf(character) : character;
  }
  return reading;
}
