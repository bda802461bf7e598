// Whom agents may ask in a workspace. Without a limit an agent may name any address, also one that it controls.

import { approverDomainsMax, emailCharactersMax } from "../shown/field-limits.ts";
import { isDomainName, normaliseEmailAddress } from "./email-address.ts";

export const approverLimits = ["anybody", "members", "domains"] as const;

/** `members` are those of the workspace and of its groups. */
export type ApproverLimit = (typeof approverLimits)[number];

export type ApproverRule = { limit: ApproverLimit; domains: readonly string[] };

/** Whether agents may ask this address. `isColleague`: it is a member of the workspace, or of one of its groups. */
export function isApproverAllowed(
  { limit, domains }: ApproverRule,
  email: string,
  isColleague: boolean,
): boolean {
  switch (limit) {
    case "anybody":
      return true;
    case "members":
      return isColleague;
    case "domains":
      return domains.includes(domainOf(email));
    default:
      return limit satisfies never;
  }
}

/** Says what is wrong with the domains that an owner lists, or null when they are fine. */
export function flawOfApproverDomains(domains: readonly string[]): string | null {
  if (domains.length > approverDomainsMax) {
    return `may have at most ${approverDomainsMax} domains, but has ${domains.length}`;
  }
  const flawed = domains.find((domain) => !isListable(domain));
  return flawed === undefined
    ? null
    : `must be plain domain names such as example.com, but one is ${JSON.stringify(flawed)}`;
}

/** As they are kept: in lower case, each once, in the order of the alphabet. */
export function normaliseApproverDomains(domains: readonly string[]): string[] {
  return [...new Set(domains.map((domain) => domain.trim().toLowerCase()))].sort();
}

/** A whole top-level domain is nobody's company, and `@localhost` is one only where the service is tried out. */
function isListable(domain: string): boolean {
  const isName = domain.length <= emailCharactersMax && isDomainName(domain);
  return isName && (domain.includes(".") || domain === "localhost");
}

function domainOf(email: string): string {
  return normaliseEmailAddress(email.slice(email.lastIndexOf("@") + 1));
}
