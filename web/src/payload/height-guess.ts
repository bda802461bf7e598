// Guesses the height of parts that were never in sight, by the number of their rows. The better the guess, the less the
// page moves under a reader who scrolls or presses.

const rowsOf = new WeakMap<Element, number>();

/** Notes how many rows a chunk has, for itself and for the blocks around it. */
export function guessHeight(chunk: HTMLElement, rows: number): void {
  const more = rows - (rowsOf.get(chunk) ?? 0);
  if (more === 0) return;
  let part: HTMLElement | null = chunk;
  while (part !== null) {
    const sum = (rowsOf.get(part) ?? 0) + more;
    rowsOf.set(part, sum);
    part.style.setProperty("--rows", String(sum));
    part = part.parentElement?.closest<HTMLElement>(".block") ?? null;
  }
}
