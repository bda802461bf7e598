// The evidence of a vote in words.

import type { RequestEvidence } from "../../../../../server/src/wire/dashboard-evidence.ts";
import { describeDuration } from "../../../look/time/duration.ts";

type Amr = RequestEvidence["amr"][number];

const ways: Record<Amr, string> = {
  mail: "Link in the mail",
  code: "code from the mail",
  session: "Signed in",
  passkey: "passkey",
  slack: "Linked Slack account",
  operator: "The operator’s command line",
};

/** "Link in the mail, code from the mail" */
export function wayInWords(amr: readonly Amr[]): string {
  // A newer service may know more ways than this page.
  return amr.map((way) => (Object.hasOwn(ways, way) ? ways[way] : way)).join(", ");
}

/** How long the page was open before the decision. */
export function openWords(openMs: number | null): string {
  return openMs === null ? "Not known" : describeDuration(openMs);
}

const shortCharacters = 12;

/** The beginning of a digest or key, which is enough to compare two by eye. */
export function shortened(code: string): string {
  return code.length <= shortCharacters + 1 ? code : `${code.slice(0, shortCharacters)}…`;
}
