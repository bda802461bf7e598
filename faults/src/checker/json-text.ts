// Members of a JSON object as they are spelled: the checker compares bytes, and JSON.parse would lose digits, order and
// spellings. Written for itself, so that it shares no mistake with the service.

/** The text of each member's value, in the order of the members. The text must be an object that JSON.parse takes. */
export function membersOf(text: string): Map<string, string> {
  JSON.parse(text);
  const members = new Map<string, string>();
  let at = skipSpace(text, 0) + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] === "}") return members;
    if (text[at] === ",") at = skipSpace(text, at + 1);
    const nameEnd = endOfString(text, at);
    const name: string = JSON.parse(text.slice(at, nameEnd));
    const from = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const to = endOfValue(text, from);
    members.set(name, text.slice(from, to));
    at = to;
  }
}

function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; ) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (character === "{" || character === "[") depth += 1;
    if (character === "}" || character === "]") {
      if (depth === 0) return trimmedEnd(text, from, at);
      depth -= 1;
      if (depth === 0) return at + 1;
    }
    if (character === "," && depth === 0) return trimmedEnd(text, from, at);
    at += 1;
  }
  return text.length;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at + 1;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (" \t\r\n".includes(text[at] ?? "x")) at += 1;
  return at;
}

function trimmedEnd(text: string, from: number, to: number): number {
  return from + text.slice(from, to).trimEnd().length;
}
