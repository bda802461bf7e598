// The address that a request names for its own outcome. It is read once, at the create, into the one spelling that is
// called and shown: what looks like one host to a reader must not be another to the sender.

import { flawOfReceiverUrl } from "../access/receiver-url.ts";
import { callbackHostCharactersMax } from "../shown/field-limits.ts";
import { isAtLeast, type Role } from "../workspace/role.ts";

export function readCallbackUrl(
  text: string,
  charactersMax: number,
): { url: string } | { flaw: string } {
  const flaw = flawOfReceiverUrl(text, charactersMax);
  if (flaw !== null) return { flaw };
  const { href: url, host } = new URL(text);
  // A name of foreign letters is longer in the form that name servers know.
  if (host.length > callbackHostCharactersMax) {
    return { flaw: `must have a host of at most ${callbackHostCharactersMax} characters` };
  }
  return { url };
}

/**
 * The whole address may let anybody continue a workflow, so only those see it, and what its receiver answered, who may
 * also see the secret that signs what is sent there.
 */
export function isCallbackShownTo(role: Role): boolean {
  return isAtLeast(role, "admin");
}

/** As members see it. */
export function callbackShownTo(role: Role, url: string): string {
  return isCallbackShownTo(role) ? url : `${new URL(url).origin}/…`;
}
