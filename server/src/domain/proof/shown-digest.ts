// The digest of what a request shows, computed from what is stored. A page computes it from what it rendered.

import { hash } from "node:crypto";
import { type Shown, shownText } from "../shown/shown-text.ts";

export type StoredShown = Omit<Shown, "id" | "expiresAt"> & { approvalId: string; expiresAt: Date };

/** SHA-256 in hex. */
export function digestOfShown(stored: StoredShown): string {
  const shown = { ...stored, id: stored.approvalId, expiresAt: stored.expiresAt.toISOString() };
  return hash("sha256", shownText(shown), "hex");
}
