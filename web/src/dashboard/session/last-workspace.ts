// Remembers the last workspace, in this browser only.

import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { recall, remember } from "./browser-memory.ts";

const storageKey = "countersign.workspace";

/** Null when this person belongs to none. */
export function lastWorkspace(me: Me): Me["workspaces"][number] | null {
  const remembered = recall("device", storageKey);
  const last = me.workspaces.find(({ id }) => id === remembered);
  return last ?? me.workspaces[0] ?? null;
}

/** If the browser keeps nothing, people begin in the first workspace. */
export function rememberWorkspace(id: string): void {
  remember("device", storageKey, id);
}
