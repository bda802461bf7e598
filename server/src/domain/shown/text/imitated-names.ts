// Finds an agent whose name looks like one that its approver trusts: Countersign itself, the workspace, the group, or
// the approver. Only names that a reader would take for the same count.

import { readingOf } from "./confusables.ts";
import { withoutHidden } from "./visible-text.ts";

export type TrustedNames = {
  workspaceName?: string | undefined;
  groupName?: string | null | undefined;
  reviewerEmail?: string | undefined;
};

export type Imitation = { of: "product" | "workspace" | "group" | "approver"; name: string };

const product = "Countersign";

export function imitationIn(agentName: string, trusted: TrustedNames): Imitation | null {
  const seen = essenceOf(agentName);
  const { workspaceName = "", groupName, reviewerEmail = "" } = trusted;
  // Our name counts in any combination: "Countersign Security" speaks for us as well.
  if (seen.includes(essenceOf(product))) return { of: "product", name: product };
  if (isSame(seen, workspaceName)) return { of: "workspace", name: workspaceName };
  if (groupName != null && isSame(seen, groupName)) return { of: "group", name: groupName };
  const email = essenceOf(reviewerEmail);
  return email !== "" && seen.includes(email) ? { of: "approver", name: reviewerEmail } : null;
}

function isSame(seen: string, name: string): boolean {
  const essence = essenceOf(name);
  return essence !== "" && seen === essence;
}

/** The name as a hasty eye sees it: letters and digits, without accents, spaces and signs, look-alikes as one. */
function essenceOf(name: string): string {
  const reading = readingOf(withoutHidden(name)).normalize("NFD").toLowerCase();
  const bare = reading.replaceAll(/[^\p{L}\p{N}]/gu, "");
  return bare
    .replaceAll("0", "o")
    .replaceAll(/[1i]/g, "l")
    .replaceAll("5", "s")
    .replaceAll("rn", "m");
}
