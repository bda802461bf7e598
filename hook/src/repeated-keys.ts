// Keys that stand twice in one object of a JSON text. `JSON.parse` keeps the last one, and other readers the first: a
// person would approve what another program doesn't read.

/** The first such key; null if there is none. The text must be JSON. */
export function repeatedKeyIn(text: string): string | null {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "{" || character === "[") open.push(new Set());
    else if (character === "}" || character === "]") open.pop();
    else if (character === '"') {
      const end = endOfString(text, at);
      const key = isBeforeColon(text, end) ? String(JSON.parse(text.slice(at, end))) : null;
      const keys = open.at(-1);
      if (key !== null && keys?.has(key)) return key;
      if (key !== null) keys?.add(key);
      at = end - 1;
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

function isBeforeColon(text: string, end: number): boolean {
  let at = end;
  while (" \t\r\n".includes(text[at] ?? "x")) at += 1;
  return text[at] === ":";
}
