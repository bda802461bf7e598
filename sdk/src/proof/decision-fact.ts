// What the log says of a decision, held against a receipt. Every claim that both have must be the same.

import type { Digested, ReceiptClaims, SignedVote } from "./claims.ts";
import type { ExactObject, ExactValue } from "./exact-json.ts";
import {
  booleanAt,
  listAt,
  nullableObjectAt,
  nullableTextAt,
  objectAt,
  ShapeError,
  textAt,
  textsAt,
  wholeAt,
  wholesAt,
} from "./members.ts";

/** The name of the first claim in which they differ, or null. */
export function differenceOf(claims: ReceiptClaims, fact: ExactObject): string | null {
  const { payload, effective, policy } = claims;
  const votes = listAt(fact, "votes").map(asObject);
  const checks: Record<string, () => boolean> = {
    decision: () => textAt(fact, "kind") === `request.${claims.decision}`,
    sub: () => textAt(fact, "request") === claims.sub,
    iat: () => secondsOf(textAt(fact, "at")) === claims.iat,
    edited: () => booleanAt(fact, "edited") === claims.edited,
    payload: () => isSameDigest(nullableObjectAt(fact, "payload"), payload),
    effective: () => isSameDigest(nullableObjectAt(fact, "effective"), effective),
    policy: () => isSamePolicy(objectAt(fact, "policy"), policy),
    by: () =>
      votes.length === claims.by.length &&
      claims.by.every((vote, at) => isSameVote(vote, votes[at] as ExactObject)),
    shown: () => isSameShown(claims.shown, votes.at(-1)),
  };
  return Object.keys(checks).find((name) => checks[name]?.() !== true) ?? null;
}

function isSameDigest(fact: ExactObject | null, digested: Digested | null): boolean {
  if (fact === null) return digested === null || digested.digest === null;
  if (digested === null) return false;
  return textAt(fact, "digest") === digested.digest && wholeAt(fact, "bytes") === digested.bytes;
}

function isSamePolicy(fact: ExactObject, policy: ReceiptClaims["policy"]): boolean {
  const stages = wholesAt(fact, "stages");
  return (
    wholeAt(fact, "required") === policy.required &&
    stages.length === policy.stages.length &&
    stages.every((votes, at) => votes === policy.stages[at]) &&
    (fact.get("signature") === true) === policy.signature
  );
}

function isSameVote(vote: SignedVote, fact: ExactObject): boolean {
  const evidence = nullableObjectAt(fact, "evidence");
  const amr = evidence === null ? [] : textsAt(evidence, "amr");
  return (
    textAt(fact, "email") === vote.email &&
    textAt(fact, "at") === vote.at &&
    nullableTextAt(fact, "for") === (vote.for ?? null) &&
    amr.join() === vote.amr.join() &&
    isSameAssertion(vote, evidence === null ? null : nullableObjectAt(evidence, "signed"))
  );
}

function isSameAssertion({ cred, assertion }: SignedVote, signed: ExactObject | null): boolean {
  if (signed === null || assertion === undefined) {
    return signed === null && assertion === undefined;
  }
  return (
    textAt(signed, "credential") === cred && textAt(signed, "statement") === assertion.statement
  );
}

function isSameShown(shown: ReceiptClaims["shown"], last: ExactObject | undefined): boolean {
  const evidence = last === undefined ? null : nullableObjectAt(last, "evidence");
  if (evidence === null || shown === null) return evidence === null && shown === null;
  const fact = objectAt(evidence, "shown");
  return wholeAt(fact, "v") === shown.v && textAt(fact, "digest") === shown.digest;
}

function secondsOf(at: string): number {
  return Math.floor(Date.parse(at) / 1_000);
}

function asObject(value: ExactValue): ExactObject {
  if (value instanceof Map) return value;
  throw new ShapeError("votes must be a list of objects");
}
