// Where the reader of a review link stands among several people.

/**
 * Where a vote would count, as the reader was shown it: the stage and for whom, also one to come, or why nowhere. A page
 * sends it with the vote. Null where one person decides.
 */
export function placeShown(
  voting: { stage: number; you: ReviewerPlace } | undefined,
): string | null {
  if (voting === undefined) return null;
  const { stage, you } = voting;
  if (you.kind === "needed_later") return `${you.stage}`;
  if (you.kind !== "asked") return `${stage} ${you.kind}`;
  return you.for === null ? `${stage}` : `${stage} for ${you.for}`;
}

/**
 * What the reader would hand over, as they were shown it: also where they may only reject. A page sends it with the
 * hand-over. Null as above.
 */
export function placeToHandOver(
  voting: { stage: number; you: ReviewerPlace } | undefined,
): string | null {
  if (voting?.you.kind !== "needed_later") return placeShown(voting);
  const { stage, you } = voting;
  const place = placeShown({ stage, you: { kind: "asked", for: you.for } });
  return `${place}, needed in ${you.stage}`;
}

/** What the reader of a link may do just now. */
export type ReviewerPlace =
  /** They may vote; `for` is whom they stand in for, null for themselves. */
  | { kind: "asked"; for: string | null }
  | { kind: "voted"; at: string; verdict: "approve" | "reject"; for: string | null }
  /** They may only reject here: a later stage needs their approval. */
  | { kind: "needed_later"; stage: number; for: string | null }
  | { kind: "handed_over"; to: string }
  /** Somebody else voted for the person in whose place they were asked. */
  | { kind: "seat_taken"; by: string }
  /** Their stage is not open just now. */
  | { kind: "other_stage"; stage: number }
  | { kind: "not_asked" };
