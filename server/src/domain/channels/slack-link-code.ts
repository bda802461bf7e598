// The code that the inbox shows and its owner types in Slack. It proves that the Slack account and the signed-in person
// are the same. Stored is only its digest.

import { createHash } from "node:crypto";

/** Without letters and digits that look alike. */
const alphabet = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
export const slackLinkCodeCharacters = 8;
export const slackLinkCodeMinutes = 10;

/** `random` has a byte for each character. 30 of 256 leaves a bias that 39 bits of a ten-minute code can bear. */
export function slackLinkCodeOf(random: Uint8Array): string {
  const characters = [...random.subarray(0, slackLinkCodeCharacters)];
  if (characters.length < slackLinkCodeCharacters)
    throw new Error("too few random bytes for a code");
  return characters.map((byte) => alphabet[byte % alphabet.length]).join("");
}

/** In whatever case and with whatever spaces it was typed; null if it can't be a code. */
export function digestOfSlackLinkCode(typed: string): Buffer | null {
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, "");
  const isCode =
    code.length === slackLinkCodeCharacters && [...code].every((each) => alphabet.includes(each));
  return isCode
    ? createHash("sha256").update(`countersign slack link code\0${code}`).digest()
    : null;
}
