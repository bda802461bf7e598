// Takes the links out of a stranger's words. Mail programs turn anything like an address into a link, so the marks that
// make an address stand in brackets: https[:]//evil[.]example, a[@]b[.]co. It is done visibly, the way security people
// write such addresses, and generously: a bracket too many is harmless, a link isn't.

/** Programs and international domain names take these for a full stop. */
const dot = String.raw`[.\uFF0E\uFE52\u2024]`;
/** They end sentences in Chinese and Japanese, where no space follows, but can stand in a domain name as well. */
const ideographicDot = String.raw`[\u3002\uFF61]`;
const anyDot = String.raw`[.\uFF0E\uFE52\u2024\u3002\uFF61]`;
const colon = String.raw`[:\uFF1A\uFE55\uFE13]`;
/** With those that fold to a letter of ASCII: the full-width ones, the long s and the sign of Kelvin. */
const latin = String.raw`A-Za-z\uFF21-\uFF3A\uFF41-\uFF5A\u017F\u212A`;
const latinOrDigit = String.raw`${latin}0-9\uFF10-\uFF19`;
/** No name of a top-level domain is shorter than two letters, and none begins with a digit. */
const topLevelStart = String.raw`\p{L}\p{M}*\p{L}`;
const labels = String.raw`(?:[\p{L}\p{M}\p{N}_\-]{1,63}${anyDot}){0,8}`;

const marks: readonly RegExp[] = [
  // Dots of a name: something before, and letters at the end of the chain. 49.00, 1.2.3 and "e.g. this" have none.
  new RegExp(String.raw`(?<=[^\s.\uFF0E\uFE52\u2024])${dot}(?=${labels}${topLevelStart})`, "gu"),
  new RegExp(String.raw`(?<=[${latinOrDigit}]\p{M}*)${ideographicDot}(?=[\p{L}\p{N}])`, "gu"),
  new RegExp(String.raw`(?<=[\p{L}\p{M}\p{N}])${ideographicDot}(?=[${latinOrDigit}])`, "gu"),
  // After www. any letter or digit will do.
  new RegExp(String.raw`(?<=[wW\uFF37\uFF57]{3})${anyDot}(?=[\p{L}\p{N}])`, "gu"),
  // The colon of a scheme, known or not. 12:30 has a digit before it, and 2026-11-16T16:11 begins with one.
  new RegExp(String.raw`${colon}(?=[/\\\uFF0F]{2})`, "gu"),
  new RegExp(String.raw`(?<=[${latin}])${colon}(?=\S)`, "gu"),
  new RegExp(
    String.raw`(?<=(?<![A-Za-z0-9+.\-])[${latin}][${latinOrDigit}+.\-]{0,40})${colon}(?=\S)`,
    "gu",
  ),
  /(?<=[^\s[])[@\uFF20\uFE6B](?=[^\s\]])/gu,
  // The start of a Windows share, which Outlook makes a link as well.
  /(?<![\\[])\\\\(?=[\p{L}\p{N}])/gu,
];

const dottedQuad = new RegExp(
  String.raw`(?<!\p{Nd}|\p{Nd}${anyDot})\p{Nd}{1,3}(?:${anyDot}\p{Nd}{1,3}){3}(?!\p{Nd}|${anyDot}\p{Nd})`,
  "gu",
);

export function unlink(text: string): string {
  const withoutNumericHosts = text.replaceAll(dottedQuad, (quad) =>
    quad.replaceAll(new RegExp(anyDot, "gu"), "[$&]"),
  );
  return marks.reduce((rest, mark) => rest.replaceAll(mark, "[$&]"), withoutNumericHosts);
}
