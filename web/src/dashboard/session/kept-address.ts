// The address that a code was mailed to, kept while the tab lives: phones unload a page while its reader checks their
// mail, and a code is useless without its address.

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
