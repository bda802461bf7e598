// The plain ASCII look of a character, by Unicode's own list (decision 28), and the value of a digit of any script.
// lookalikes.ts judges whole texts.

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

/** Unicode writes l for everything that looks like a stroke; a capital one reads as I. */
function plainForCase(codePoint: number, plain: string): string {
  return plain === "l" && /\p{Lu}/u.test(String.fromCodePoint(codePoint)) ? "I" : plain;
}

/** The plain character that this one looks like; undefined if there is none, or it is plain itself. */
export function plainOf(character: string): string | undefined {
  return plainByCodePoint().get(character.codePointAt(0) ?? 0);
}

/** All characters that look like this plain one. */
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

/** The text as it reads: plain letters for look-alikes, plain digits for digits of any script. */
export function readingOf(text: string): string {
  let reading = "";
  for (const character of text.normalize("NFKC")) {
    const plain = character < "\x80" ? character : plainOf(character);
    if (plain !== undefined) reading += plain;
    else reading += decimalDigit().test(character) ? digitValueOf(character) : character;
  }
  return reading;
}
