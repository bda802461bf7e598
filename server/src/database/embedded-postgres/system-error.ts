// Recognises errors of the operating system for the embedded PostgreSQL.

/** An error of the operating system; with codes given, one of these. */
export function isSystemError(error: unknown, ...codes: string[]): error is NodeJS.ErrnoException {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return false;
  return codes.length === 0 || codes.includes(String(error.code));
}
