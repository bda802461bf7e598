// How the embedded PostgreSQL says what went wrong, and how it reads what the system says.

/** What kept the embedded PostgreSQL from working: a sentence for the operator that says what to do. */
export class EmbeddedPostgresFault extends Error {
  override name = "EmbeddedPostgresFault";
}

/** An error of the operating system; with codes given, one of these. */
export function isSystemError(error: unknown, ...codes: string[]): error is NodeJS.ErrnoException {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return false;
  return codes.length === 0 || codes.includes(String(error.code));
}
