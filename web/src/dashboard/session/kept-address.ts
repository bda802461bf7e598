// The address that a code was mailed to, for as long as the tab lives: phones unload a page while its reader looks into
// their mail, and a code without its address opens nothing.

import { recall, remember } from "./browser-memory.ts";

const key = "countersign.address";

export function keepAddress(email: string): void {
  remember("tab", key, email);
}

/** Empty when no code was asked for. */
export function keptAddress(): string {
  return recall("tab", key) ?? "";
}

export function forgetAddress(): void {
  remember("tab", key, null);
}
