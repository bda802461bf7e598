// What is known about each decision and vote of a request, for its page on the dashboard.

import type { Evidence } from "../../../domain/proof/evidence.ts";
import type { RequestEvidence } from "../../../wire/dashboard-evidence.ts";

/** Nothing while nobody has decided, and for requests that were decided before evidence was kept. */
export function representEvidence(all: readonly Evidence[]): { evidence?: RequestEvidence[] } {
  return all.length === 0 ? {} : { evidence: all.map(representOne) };
}

function representOne(evidence: Evidence): RequestEvidence {
  const { email, forEmail, verdict, revision, shown, openMs, amr, address } = evidence;
  return {
    ...{ email, for: forEmail, verdict, at: evidence.at.toISOString(), revision },
    shown: { v: shown.version, digest: shown.digest.toString("base64url") },
    ...{ openedAt: evidence.openedAt?.toISOString() ?? null, openMs, amr, address },
    ...{ userAgent: evidence.userAgent, page: evidence.page },
    credentialId: evidence.signed?.credentialId ?? null,
    isSigned: evidence.signed !== null,
  };
}
