// The warnings about a request in its current state, with the payload as edited.

import { describeFinding, type Sentence } from "./finding-sentences.ts";
import { type FindingGroup, findingsOf, type Place, type ReviewedWords } from "./findings.ts";

export type DescribedGroup = Omit<FindingGroup, "listed"> & {
  listed: { sentence: Sentence; place: Place }[];
};

type Identified = ReviewedWords & { id: string };

/** The list is built whenever the approver opens something, but findings are computed only when the payload changes. */
let known: { id: string; payload: string | null; groups: DescribedGroup[] } | null = null;

export function currentFindings(review: Identified, payload: string | null): DescribedGroup[] {
  if (known !== null && known.id === review.id && known.payload === payload) return known.groups;
  const groups = findingsOf({ ...review, payload }).map(({ listed, ...group }) => ({
    ...group,
    listed: listed.map((finding) => ({
      sentence: describeFinding(finding),
      place: finding.place,
    })),
  }));
  known = { id: review.id, payload, groups };
  return groups;
}
