// The rules for words that people read: how they are counted, and which characters they may hold.

const forbiddenControl = /[\p{Cc}]/u;
const allowedControls = /[\t\n\r]/g;
const blank =
  /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{1D159}\u{16FE4}]*$/u;

/** Counts Unicode code points: an emoji outside the basic plane is one character, not two. */
export function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isPair = code >= 0xd800 && code <= 0xdbff && isLowSurrogate(text.charCodeAt(at + 1));
    if (isPair) at += 1;
    count += 1;
  }
  return count;
}

/** Says what is wrong with a text of at most `charactersMax` characters, or null when it is fine. */
export function flawOfText(text: string, charactersMax: number): string | null {
  const characters = countCharacters(text);
  if (characters > charactersMax) {
    return `must be at most ${charactersMax} characters, but has ${characters}`;
  }
  if (!text.isWellFormed()) return "must not contain a lone surrogate (half of a character)";
  const control = forbiddenControl.exec(text.replaceAll(allowedControls, ""));
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `must not contain control characters other than tab and line breaks (found U+${code})`;
  }
  return null;
}

/** True when nothing in the text would be visible. */
export function isBlank(text: string): boolean {
  return blank.test(text);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
