// Reads six digits as people type and paste them: with spaces and dashes, or with words around them.

export const codeDigits = 6;

/** At most six digits. */
export function toCodeDigits(typed: string): string {
  return typed.replaceAll(/\D/g, "").slice(0, codeDigits);
}
