// The six digits as people type and paste them: with blanks and dashes, or with the words around them.

export const codeDigits = 6;

/** At most six digits. */
export function toCodeDigits(typed: string): string {
  return typed.replaceAll(/\D/g, "").slice(0, codeDigits);
}
