// What a reader needs to sign their decision: which of their passkeys, and how far the log is.

import type { Database } from "../../database/database.ts";
import { parseNote } from "../../domain/proof/note.ts";
import { siteOf } from "../../operations/people/webauthn.ts";
import { audienceOf, type SignedRequest } from "../../operations/proof/verify-signed-decision.ts";
import * as passkeys from "../../storage/people/passkeys.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import type { ReviewSigning } from "../../wire/review-contract.ts";

type Signable = Pick<SignedRequest, "workspaceId" | "reviewer" | "audience"> & {
  needsSignature: boolean;
  state: { kind: string };
};

/** Null for a reader without passkeys, unless nobody approves without one. */
export async function offerSigning(
  db: Database,
  request: Signable,
  publicUrl: string,
): Promise<ReviewSigning | null> {
  if (request.state.kind !== "PENDING") return null;
  const { workspaceId: workspace, needsSignature: needed, reviewer } = request;
  const known = await passkeys.listOfEmail(db, reviewer.email);
  if (known.length === 0 && !needed) return null;
  const newest = await logCheckpoints.findNewestOf(db, workspace);
  return {
    needed,
    rpId: siteOf(publicUrl).expectedRPID,
    workspace,
    audience: audienceOf(request),
    checkpoint: newest === null ? null : (parseNote(newest.note)?.text ?? null),
    credentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
  };
}
