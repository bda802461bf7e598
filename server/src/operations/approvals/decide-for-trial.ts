// Decides in place of a reviewer, for a developer who tries things out on one machine. It opens the reviewer's own link and
// goes the way of every decision, so the same rules hold. Unless the database is marked as a trial, it refuses.

import type { Database } from "../../database/database.ts";
import { findSecretKey } from "../../domain/access/keyring.ts";
import { deriveReviewCode } from "../../domain/access/review-code.ts";
import { deriveReviewToken, digestOfReviewToken } from "../../domain/access/review-link.ts";
import { issueReviewTicket } from "../../domain/access/review-ticket.ts";
import { parseReviewDecision } from "../../domain/approval/review-decision.ts";
import { operatorEvidence } from "../../domain/proof/evidence.ts";
import { digestOfShown } from "../../domain/proof/shown-digest.ts";
import { type ChangeRefusal, isRefusal, type Refusal, refuse } from "../../domain/refusal.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import * as reviews from "../../storage/approvals/reviews.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import { type DecidingParts, makeDecideApproval } from "./decide-approval.ts";
import { findReview, noteReviewOpened, type ReviewLink, unknownLink } from "./open-review.ts";

export type TrialDecision = {
  id: string;
  verdict: "approve" | "reject";
  note: string | null;
  edit: JsonText | null;
  /** One of several who were asked; null is the first. */
  email: string | null;
};

export type TrialParts = DecidingParts & { onDue: () => void };

export async function decideForTrial(
  parts: TrialParts,
  choice: TrialDecision,
): Promise<ReviewLink | Refusal | ChangeRefusal> {
  const { db, keyring, onDue } = parts;
  if (!(await workspaces.hasTrial(db))) return notTried();
  const seed = await findSeed(db, choice);
  if (isRefusal(seed)) return seed;
  const key = findSecretKey(keyring, seed.secretKeyId);
  if (key === null) return deadLink();
  const tokenDigest = digestOfReviewToken(deriveReviewToken(key, seed.tokenNonce));
  const access = { kind: "link", tokenDigest } as const;
  const review = await findReview(db, access);
  if (review === null) return deadLink();
  const decision = parseReviewDecision(
    bodyOf(choice, {
      digest: digestOfShown(review),
      ticket: issueReviewTicket(keyring, review.reviewer.id, review.now),
      code: review.reviewer.needsCode ? deriveReviewCode(key, seed.tokenNonce) : null,
    }),
  );
  if (isRefusal(decision)) return decision;
  await noteReviewOpened(db, review);
  const decide = makeDecideApproval(parts, onDue);
  const result = await decide(access, review, decision, operatorEvidence);
  return "decided" in result ? result.decided : refuse("conflict", result.message);
}

function deadLink(): ChangeRefusal {
  return refuse("not_found", unknownLink().message);
}

function notTried(): ChangeRefusal {
  return refuse(
    "forbidden",
    "this database is not one that is only tried out: it was made in another way, or a service has started on it with a public PUBLIC_URL, with SMTP_URL or with DATABASE_URL. People decide through the link in their mail; for a trial, start a service with a new DATA_DIR",
  );
}

async function findSeed(
  db: Database,
  { id, email }: TrialDecision,
): Promise<reviews.LinkSeed | ChangeRefusal> {
  const seeds = await reviews.listLinkSeeds(db, id);
  const sought = email?.toLowerCase();
  const seed = seeds.find((each) => sought === undefined || each.email.toLowerCase() === sought);
  if (seed !== undefined) return seed;
  const asked = seeds.map((each) => each.email).join(", ");
  return refuse(
    "not_found",
    asked === ""
      ? `there is no request ${id}`
      : `${email} was not asked about ${id}, but ${asked} was`,
  );
}

/** As the page sends it. The edit is a valid JSON text and goes in as it is. */
function bodyOf(
  { verdict, note, edit }: TrialDecision,
  shown: { digest: string; ticket: string; code: string | null },
): Buffer {
  const fields = JSON.stringify({ verdict, note, ...shown });
  return Buffer.from(edit === null ? fields : `${fields.slice(0, -1)},"edit":${edit}}`);
}
