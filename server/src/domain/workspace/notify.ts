// Whom a request asks, as callers and settings write it: one plain address, or group:<key>.

import { flawOfEmailAddress } from "./email-address.ts";
import { isGroupKey } from "./group.ts";
import { isBlank } from "./plain-text.ts";

export type Notify = { kind: "address"; email: string } | { kind: "group"; key: string };

const groupPrefix = "group:";

/** The approver that a text names, or what is wrong with it. */
export function parseNotify(text: string): Notify | { flaw: string } {
  if (isBlank(text)) return { flaw: "must not be blank: give an e-mail address, or group:<key>" };
  if (!text.startsWith(groupPrefix)) {
    const flaw = flawOfEmailAddress(text);
    return flaw === null
      ? { kind: "address", email: text }
      : { flaw: `${flaw}; or group:<key> for an approver group` };
  }
  const key = text.slice(groupPrefix.length);
  if (isGroupKey(key)) return { kind: "group", key };
  return {
    flaw: "names a group whose key is not valid: a key has 1 to 64 characters, lower-case letters, digits, _ and -, and begins with a letter or digit",
  };
}

/** How callers and settings name a group. */
export function nameOfGroup(key: string): string {
  return `${groupPrefix}${key}`;
}
