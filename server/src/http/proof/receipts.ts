// What an executor fetches before it acts: the receipt of a decision, the exact bytes that were approved, and the keys
// that receipts are verified with.

import { hash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { isEmbedded } from "../../domain/approval/call-parameters.ts";
import { approvedText, noReceipt } from "../../domain/proof/receipt.ts";
import { embedText } from "../../domain/proof/receipt-token.ts";
import { keySetOf } from "../../domain/proof/signing-key.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { type ReadApproval, unknownApproval } from "../../operations/approvals/read-approval.ts";
import { unknownKey } from "../../operations/approvals/unknown-key.ts";
import type { ReadReceipt, Receipt } from "../../operations/proof/receipts.ts";
import { currentSigner, listSigningKeys } from "../../operations/proof/signing-keys.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { answerRefusal, noteFacts, noteWorkspace } from "../api/approvals.ts";
import type { Answer, Call } from "../frame/call.ts";
import { hasEntityTag, idOf } from "../frame/parameters.ts";
import { problem, problemOfRefusal } from "../frame/problems.ts";

export type ReceiptCalls = {
  db: Database;
  keyring: Keyring;
  readApproval: ReadApproval;
  readReceipt: ReadReceipt;
};

/** Nothing on the way may change a byte. */
const cacheControl = "private, no-cache, no-transform";

export async function showReceipt(calls: ReceiptCalls, call: Call): Promise<Answer> {
  const workspaceId = await apiKeys.findWorkspaceId(calls.db, call.keyDigest);
  if (workspaceId === null) return problemOfRefusal(unknownKey());
  noteWorkspace(call, workspaceId);
  const isWithText = isEmbedded(call.query);
  if (isRefusal(isWithText)) return problemOfRefusal(isWithText);
  const approvalId = idOf(call);
  const receipt = await calls.readReceipt({ workspaceId, approvalId });
  if ("missing" in receipt) return answerMissing(receipt);
  call.facts.approvalId = approvalId;
  return isWithText ? showWithText(calls, call, receipt.jws) : answerReceipt(call, receipt.jws);
}

/** It isn't kept: the claims are those of the kept receipt, and the text is in its own row. */
async function showWithText(calls: ReceiptCalls, call: Call, receipt: string): Promise<Answer> {
  const { keyDigest } = call;
  const found = await calls.readApproval({ keyDigest, id: idOf(call) });
  if (isRefusal(found)) return answerRefusal(call, found);
  const text = approvedText(found.approval);
  if (isRefusal(text)) return answerReceipt(call, receipt);
  const signer = await currentSigner(calls.db, calls.keyring);
  if (signer === null) return answerMissing({ missing: "signer" });
  return answerReceipt(call, embedText(receipt, text, signer));
}

function answerReceipt(call: Call, receipt: string): Answer {
  const etag = `"${hash("sha256", receipt, "base64url")}"`;
  const headers = { etag, "cache-control": cacheControl };
  return hasEntityTag(call, etag)
    ? { status: 304, headers, body: null }
    : { status: 200, headers, type: "application/jwt", body: receipt };
}

function answerMissing({ missing }: Extract<Receipt, { missing: string }>): Answer {
  if (missing === "unknown") return problemOfRefusal(unknownApproval());
  if (missing === "undecided") return problemOfRefusal(noReceipt());
  return problem(
    "unavailable",
    "No receipt can be signed at present: the service lacks a key, which its operator can add. The decision stands; ask again later.",
  );
}

/** The bytes that were approved, so that nobody has to write the JSON anew before they hash it. */
export async function showEffectivePayload(
  { readApproval }: ReceiptCalls,
  call: Call,
): Promise<Answer> {
  const found = await readApproval({ keyDigest: call.keyDigest, id: idOf(call) });
  if (isRefusal(found)) return answerRefusal(call, found);
  noteFacts(call, found);
  const text = approvedText(found.approval);
  return isRefusal(text) ? problemOfRefusal(text) : answerBytes(call, Buffer.from(text));
}

function answerBytes(call: Call, bytes: Buffer): Answer {
  const digest = hash("sha256", bytes, "base64");
  const etag = `"${digest}"`;
  const headers = { etag, "cache-control": cacheControl };
  if (hasEntityTag(call, etag)) return { status: 304, headers, body: null };
  return {
    status: 200,
    headers: { ...headers, "repr-digest": `sha-256=:${digest}:` },
    body: bytes,
  };
}

/** For anybody. A verifier that meets a key it doesn't know asks again. */
export async function showKeySet({ db }: Pick<ReceiptCalls, "db">): Promise<Answer> {
  const keys = await listSigningKeys(db);
  return {
    status: 200,
    headers: { "cache-control": "public, max-age=3600" },
    body: JSON.stringify(keySetOf(keys)),
  };
}
