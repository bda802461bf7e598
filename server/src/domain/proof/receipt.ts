// A receipt's claims: what was decided, by whom and about which exact bytes. They are a pure function of rows. Bytes are
// base64url here. It needs nothing but the language, because the SDK's testing kit makes receipts in browsers, too.

import { type Approval, effectivePayload } from "../approval/approval.ts";
import { type Refusal, refuse } from "../refusal.ts";
import type { JsonText } from "../shown/json-text.ts";
import type { ApproverLimit } from "../workspace/approver-limit.ts";
import { personOf } from "../workspace/email-address.ts";

/** A longer receipt doesn't travel with its webhook: many receivers take 8 KiB of headers in all. */
export const receiptHeaderBytesMax = 6_144;

/** The exact text by its SHA-256 and its bytes in UTF-8. */
export type Digested = { digest: string; bytes: number };

/** A vote that counts. */
export type ReceiptVote = {
  voter: string;
  email: string;
  /** On whose behalf; null for themselves. */
  forEmail: string | null;
  at: Date;
};

/** What a passkey signed: the statement's text, and what the authenticator made of it. */
export type Assertion = {
  statement: string;
  authenticatorData: string;
  clientDataJSON: string;
  signature: string;
};

/** What is known about a vote. */
export type ReceiptEvidence = {
  revision: number;
  voter: string;
  amr: readonly string[];
  shown: { version: number; digest: string };
  signed: { credentialId: string; assertion: Assertion } | null;
};

/** Everything that a receipt tells, as it is stored. */
export type DecisionFacts = {
  workspaceId: string;
  approvalId: string;
  /** Of the event `request.approved` or `request.rejected`. */
  eventId: string;
  decision: "approved" | "rejected";
  at: Date;
  byEmail: string;
  /** Null is the workspace. */
  audience: readonly string[] | null;
  validHours: number;
  needsSignature: boolean;
  /** The rule by which the workspace limited who could be asked; null where anybody could. */
  approverLimit: Exclude<ApproverLimit, "anybody"> | null;
  /** Null when it was never given. */
  payload: Digested | null;
  /** Null unless a person changed it. */
  edit: Digested | null;
  /** Null where one person decided alone. */
  voting: {
    revision: number;
    /** How many approvals each stage asked for. */
    stages: readonly number[];
    /** In the order of their time: the approvals that count, or the one rejection. */
    votes: readonly ReceiptVote[];
  } | null;
  /** Empty where it was decided before evidence was kept. */
  evidence: readonly ReceiptEvidence[];
  /** The origin of the workspace's log. */
  logOrigin: string | null;
};

type Signatory = {
  email: string;
  at: string;
  amr: readonly string[];
  for?: string;
  cred?: string;
  assertion?: Assertion;
};

/** The order is part of the format: the same rows always give the same bytes. */
export function receiptClaims(facts: DecisionFacts, issuer: string) {
  const votes = votesOf(facts);
  const by = votes.map(toSignatory);
  const iat = Math.floor(facts.at.getTime() / 1000);
  const isApproved = facts.decision === "approved";
  const shown = votes.at(-1)?.evidence?.shown;
  return {
    iss: issuer,
    aud: facts.audience ?? [facts.workspaceId],
    sub: facts.approvalId,
    jti: facts.eventId,
    iat,
    nbf: iat,
    exp: iat + facts.validHours * 3_600,
    ws: facts.workspaceId,
    decision: facts.decision,
    edited: facts.edit !== null,
    by,
    policy: policyOf(facts),
    shown: shown === undefined ? null : { v: shown.version, digest: shown.digest },
    payload: toClaim(facts.payload),
    effective: isApproved ? toClaim(facts.edit ?? facts.payload) : null,
    log: facts.logOrigin === null ? null : { origin: facts.logOrigin },
    level: by.every(({ assertion }) => assertion !== undefined)
      ? "person-signed"
      : "operator-signed",
  };
}

/** The first part of the token. `kid` is the thumbprint of its key. */
export function receiptHeader(kid: string) {
  return { alg: "Ed25519", typ: "countersign-receipt+jwt", kid };
}

/** The same claims and the exact text of the effective payload beside them. */
export function withEmbeddedText(claims: string, text: string): string {
  return `${claims.slice(0, -1)},"text":${JSON.stringify(text)}}`;
}

/** The text to execute: what was approved, to the byte. */
export function approvedText(approval: Approval): JsonText | Refusal {
  if (approval.state.kind !== "APPROVED") {
    return refuse(
      "not_found",
      "This request is not approved, so there is nothing to execute. Ask again once its status is APPROVED.",
    );
  }
  return (
    effectivePayload(approval) ??
    refuse("not_found", "This request was created without a payload: it has no bytes.")
  );
}

export function noReceipt(): Refusal {
  return refuse(
    "not_found",
    "This request has no receipt: nobody has approved or rejected it. Ask again once its status is APPROVED or REJECTED.",
  );
}

type EvidencedVote = ReceiptVote & { evidence: ReceiptEvidence | undefined };

/** One who decides alone votes on revision 1. */
function votesOf({ voting, byEmail, at, evidence }: DecisionFacts): EvidencedVote[] {
  const revision = voting?.revision ?? 1;
  const alone = { voter: personOf(byEmail), email: byEmail, forEmail: null, at };
  const votes = voting === null ? [alone] : voting.votes;
  return votes.map((vote) => ({
    ...vote,
    evidence: evidence.find((each) => each.revision === revision && each.voter === vote.voter),
  }));
}

function toSignatory({ email, at, forEmail, evidence }: EvidencedVote): Signatory {
  const signed = evidence?.signed ?? null;
  return {
    email,
    at: at.toISOString(),
    amr: evidence?.amr ?? [],
    ...(forEmail === null ? {} : { for: forEmail }),
    ...(signed === null ? {} : { cred: signed.credentialId, assertion: signed.assertion }),
  };
}

function policyOf({ voting, needsSignature, approverLimit }: DecisionFacts) {
  const stages = voting?.stages ?? [1];
  const required = stages.reduce((sum, each) => sum + each, 0);
  return {
    ...{ required, stages },
    ...(needsSignature ? { signature: true } : {}),
    ...(approverLimit === null ? {} : { approvers: approverLimit }),
  };
}

function toClaim(digested: Digested | null) {
  return digested === null
    ? { digest: null, bytes: 0 }
    : { digest: digested.digest, bytes: digested.bytes };
}
