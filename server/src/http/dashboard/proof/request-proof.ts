// What is kept as proof of one request's decision, for its page on the dashboard, which checks it by itself.

import type { Queryable } from "../../../database/database.ts";
import type { Evidence } from "../../../domain/proof/evidence.ts";
import { keySetOf } from "../../../domain/proof/signing-key.ts";
import { noSuchRequest } from "../../../operations/approvals/cancel-by-member.ts";
import { findWithExpiry } from "../../../operations/approvals/expire-approvals.ts";
import { readRequestProof } from "../../../operations/proof/request-proof.ts";
import { listSigningKeys } from "../../../operations/proof/signing-keys.ts";
import * as passkeys from "../../../storage/people/passkeys.ts";
import * as storedEvidence from "../../../storage/proof/evidence.ts";
import type { RequestProof, SigningCredential } from "../../../wire/dashboard-proof.ts";
import { type DashboardCalls, type DashboardRefusal, idIn, type MemberVisit } from "../visit.ts";

export async function show(
  { db, origin, readReceipt }: DashboardCalls,
  { call, workspaceId }: MemberVisit,
): Promise<RequestProof | DashboardRefusal> {
  const found = await findWithExpiry(db, workspaceId, idIn(call, "requestId"));
  if (found === null) return noSuchRequest();
  const approvalId = found.approval.id;
  call.facts.approvalId = approvalId;
  const where = { workspaceId, approvalId };
  const evidence = await storedEvidence.listOfApproval(db, where);
  const receipt = await readReceipt(where);
  return {
    credentials: await findCredentials(db, evidence),
    receipt: "jws" in receipt ? receipt.jws : null,
    // Read after the receipt, so that a key made for it is among them.
    jwks: keySetOf(await listSigningKeys(db)),
    log: await readRequestProof({ db, origin }, where),
  };
}

async function findCredentials(
  db: Queryable,
  evidence: readonly Evidence[],
): Promise<SigningCredential[]> {
  const ids = new Set(evidence.flatMap(({ signed }) => signed?.credentialId ?? []));
  const found = await Promise.all([...ids].map((id) => passkeys.find(db, id)));
  return found.flatMap((passkey) =>
    passkey === null
      ? []
      : [
          {
            id: passkey.credentialId,
            email: passkey.email,
            publicKey: passkey.publicKey.toString("base64url"),
          },
        ],
  );
}
