// Remembers which workspace one was in, in this browser only.

import type { Me } from "../../../sdk/src/dashboard-contract.ts";

const storageKey = "countersign.workspace";

/** Null when this person belongs to none. */
export function lastWorkspace(me: Me): Me["workspaces"][number] | null {
  const last = me.workspaces.find(({ id }) => id === remembered());
  return last ?? me.workspaces[0] ?? null;
}

/** A browser may allow no storage; then one begins in the first workspace. */
export function rememberWorkspace(id: string): void {
  try {
    localStorage.setItem(storageKey, id);
  } catch {}
}

function remembered(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
