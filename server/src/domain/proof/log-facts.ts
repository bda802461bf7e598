// The facts that entries of the log stand for, as JSON with `kind` first: who did what, when and on what. A reader who
// has a fact and its salt can check it against its entry, so its form never changes, and grows only at the end.

/** Digest and size of a JSON text; null for one that was never given. */
export type TextDigest = { digest: string; bytes: number } | null;

export type VoteFact = {
  email: string;
  /** For whom they stood in. */
  for: string | null;
  verdict: "approve" | "reject";
  at: Date;
  revision: number;
  stage: number | null;
  via: string | null;
  note: string | null;
  /** Null where it was decided before evidence was kept. */
  evidence: EvidenceFact | null;
};

export type EvidenceFact = {
  shown: { v: number; digest: string };
  openedAt: Date | null;
  openMs: number | null;
  amr: string[];
  address: string | null;
  userAgent: string | null;
  page: string | null;
  signed: SignedFact | null;
};

/** As the person's passkey signed it; bytes in base64url. */
export type SignedFact = {
  credential: string;
  /** In COSE, so that the log of each workspace has the keys that signed there. Null if the passkey was removed at once. */
  publicKey: string | null;
  statement: string;
  authenticatorData: string;
  clientDataJSON: string;
  signature: string;
};

export type RequestFact = {
  request: string;
  at: Date;
  summary: string;
  agentName: string | null;
  requestedBy: string | null;
  apiKey: string | null;
  approver: string | null;
  group: { id: string; key: string; name: string } | null;
  callbackUrl: string | null;
  channels: string[] | null;
  audience: string[] | null;
  needsSignature: boolean;
  expiresAt: Date;
  /** Votes needed in each stage; one where one person decides. */
  stages: number[];
  payload: TextDigest;
  /** Digests of the texts that came with it. */
  texts: Record<"metadata" | "agentState" | "reasoning" | "recentActions", string | null>;
};

export function createdFact(created: RequestFact): string {
  const { stages, needsSignature, ...rest } = created;
  return factOf("request.created", { ...rest, policy: policyOf(stages, needsSignature) });
}

export type DecisionFact = {
  request: string;
  at: Date;
  by: string | null;
  note: string | null;
  edited: boolean;
  stages: number[];
  needsSignature: boolean;
  payload: TextDigest;
  /** Null for a rejection. */
  effective: TextDigest;
  /** The votes that count. */
  votes: VoteFact[];
};

export function decisionFact(
  kind: "request.approved" | "request.rejected",
  decision: DecisionFact,
): string {
  const { stages, needsSignature, votes, ...rest } = decision;
  return factOf(kind, { ...rest, policy: policyOf(stages, needsSignature), votes });
}

export function voteFact(vote: { request: string; at: Date; votes: VoteFact[] }): string {
  return factOf("request.vote_recorded", vote);
}

/** Other things that happen to a request: it expired, was cancelled, entered a stage, was passed on, was changed. */
export function requestEventFact(event: {
  kind: string;
  request: string;
  at: Date;
  detail: Record<string, unknown> | null;
  effective?: TextDigest | undefined;
}): string {
  const { kind, ...rest } = event;
  return factOf(kind, rest);
}

export function openedFact(opened: {
  request: string;
  at: Date;
  reviewer: string;
  email: string;
}): string {
  return factOf("request.opened", opened);
}

export function redeemedFact(redeemed: {
  request: string;
  at: Date;
  apiKey: { id: string; name: string };
}): string {
  return factOf("request.redeemed", redeemed);
}

export function activityFact(activity: {
  action: string;
  at: Date;
  actor: string | null;
  subject: string;
  detail: Record<string, unknown>;
}): string {
  const { action, ...rest } = activity;
  return factOf(`activity.${action}`, rest);
}

/** A fact that no row of ours holds: its words came with it. */
export function toldFact(kind: string, at: Date, detail: Record<string, unknown>): string {
  return factOf(kind, { at, ...detail });
}

/** Its row was deleted before the log came to it. */
export function goneFact(kind: string, subject: string): string {
  return factOf(kind, { subject });
}

export function logOpenedFact(opened: {
  origin: string;
  /** The last known checkpoint of the log before, as a signed note. */
  previous: string | null;
  /** Requests of the workspace that are older than this log. */
  requestsBefore: number;
}): string {
  return factOf("log.opened", opened);
}

export function checkpointFact(checkpoint: { origin: string; body: string }): string {
  return factOf("checkpoint", checkpoint);
}

function policyOf(stages: number[], needsSignature: boolean) {
  return {
    required: stages.reduce((sum, votes) => sum + votes, 0),
    stages,
    ...(needsSignature ? { signature: true } : {}),
  };
}

function factOf(kind: string, rest: Record<string, unknown>): string {
  // What came from elsewhere must not say another kind.
  const { kind: _, ...others } = rest;
  return JSON.stringify({ kind, ...others });
}
