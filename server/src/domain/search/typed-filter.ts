// What people type into a filter, at the dashboard and at the command line alike.

const groupPrefix = "group:";

export type TypedApprover = { kind: "address"; email: string } | { kind: "group"; key: string };

/** An address, or `group:` with a key. Null when nothing was typed. */
export function typedApprover(text: string): TypedApprover | null {
  const typed = text.trim();
  if (typed === "") return null;
  return typed.startsWith(groupPrefix)
    ? { kind: "group", key: typed.slice(groupPrefix.length) }
    : { kind: "address", email: typed };
}

export type TypedSearch = { kind: "id"; beginning: string } | { kind: "words"; typed: string };

/** An id or its beginning, or words. Null when nothing was typed. */
export function typedSearch(text: string): TypedSearch | null {
  const typed = text.trim();
  if (typed === "") return null;
  const beginning = typed.toLowerCase();
  return /^req_[0-9a-f]{0,32}$/.test(beginning)
    ? { kind: "id", beginning }
    : { kind: "words", typed };
}
