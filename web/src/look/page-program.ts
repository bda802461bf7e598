// The page's own program, by the hash in the name of its bundle: decisions tell by which program they were made.

let hash: string | null = null;

/** Called by each page with its own `import.meta.url`, because shared code is in another file. */
export function nameProgram(url: string): void {
  hash = hashOf(url);
}

/** For the body of a decision: empty where the name has no hash, as in development. */
export function programFields(): { page?: string } {
  return hash === null ? {} : { page: hash };
}

/** `…/assets/review-Bv55mHW-.js` is `Bv55mHW-`. */
export function hashOf(url: string): string | null {
  return /-([\w-]{8})\.js$/.exec(url)?.[1] ?? null;
}
