// Reads addresses as people paste them: one per line, or with commas, semicolons or blanks between them.

export function addressesOf(text: string): string[] {
  const found = text.split(/[\s,;]+/).filter((part) => part !== "");
  const seen = new Set<string>();
  return found.filter((address) => {
    const key = address.toLowerCase();
    return seen.has(key) ? false : seen.add(key);
  });
}

/** A group's key, suggested from its name until somebody types one. */
export function keyOfName(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 64);
}
