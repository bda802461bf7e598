// The claims of a receipt, demanded in full: a receipt that lacks one is none.

import type { Bytes } from "./bytes.ts";
import { textOf } from "./bytes.ts";
import type { ExactObject, ExactValue } from "./exact-json.ts";
import {
  booleanAt,
  bytesAt,
  digestAt,
  listAt,
  nullableDigestAt,
  nullableObjectAt,
  objectAt,
  optionalObjectAt,
  optionalTextAt,
  readObject,
  ShapeError,
  textAt,
  textsAt,
  wholeAt,
  wholesAt,
} from "./members.ts";

/** A JSON text by its SHA-256 (base64url) and its length. Null where there was no payload. */
export type Digested = { digest: string | null; bytes: number };

/** What a passkey signed: the statement's text, and what the authenticator made of it. */
export type Assertion = {
  statement: string;
  authenticatorData: Bytes;
  clientDataJSON: Bytes;
  signature: Bytes;
};

/** One vote that counted. */
export type SignedVote = {
  email: string;
  at: string;
  /** How they proved who they are: `mail`, `code`, `session`, `passkey`, `slack`, `operator`. */
  amr: string[];
  /** The colleague in whose place they voted. */
  for?: string;
  cred?: string;
  assertion?: Assertion;
};

export type ReceiptClaims = {
  iss: string;
  aud: string[];
  /** The request. */
  sub: string;
  /** Unique for a decision: keep it in a unique column, and an action runs once. */
  jti: string;
  iat: number;
  nbf: number;
  exp: number;
  ws: string;
  decision: "approved" | "rejected";
  edited: boolean;
  by: SignedVote[];
  policy: {
    required: number;
    stages: number[];
    signature: boolean;
    /** The rule by which the workspace limited who could be asked: `members` or `domains`. */
    approvers?: string;
  };
  shown: { v: number; digest: string } | null;
  payload: Digested;
  /** What may run. Null for a rejection. */
  effective: Digested | null;
  log: { origin: string } | null;
  /** What the issuer says of it. `verify` says what was checked. */
  level: string;
  /** The effective payload's exact text, if the receipt was asked for with it. */
  text?: string;
};

export function readClaims(bytes: Uint8Array): ReceiptClaims {
  const claims = readObject(textOf(bytes), "the receipt");
  const decision = textAt(claims, "decision");
  if (decision !== "approved" && decision !== "rejected") {
    throw new ShapeError("decision must be approved or rejected");
  }
  const text = optionalTextAt(claims, "text");
  const read: ReceiptClaims = {
    iss: textAt(claims, "iss"),
    aud: textsAt(claims, "aud"),
    sub: textAt(claims, "sub"),
    jti: textAt(claims, "jti"),
    iat: wholeAt(claims, "iat"),
    nbf: wholeAt(claims, "nbf"),
    exp: wholeAt(claims, "exp"),
    ws: textAt(claims, "ws"),
    decision,
    edited: booleanAt(claims, "edited"),
    by: listAt(claims, "by").map(readVote),
    policy: readPolicy(objectAt(claims, "policy")),
    shown: readShown(nullableObjectAt(claims, "shown")),
    payload: readDigested(objectAt(claims, "payload")),
    effective: readEffective(claims, decision),
    log: readLog(nullableObjectAt(claims, "log")),
    level: textAt(claims, "level"),
    ...(text === undefined ? {} : { text }),
  };
  if (read.by.length === 0) throw new ShapeError("by must name somebody");
  return read;
}

function readVote(value: ExactValue): SignedVote {
  if (!(value instanceof Map)) throw new ShapeError("by must be a list of objects");
  const [replaced, cred] = [optionalTextAt(value, "for"), optionalTextAt(value, "cred")];
  const assertion = optionalObjectAt(value, "assertion");
  return {
    email: textAt(value, "email"),
    at: textAt(value, "at"),
    amr: textsAt(value, "amr"),
    ...(replaced === undefined ? {} : { for: replaced }),
    ...(cred === undefined ? {} : { cred }),
    ...(assertion === undefined ? {} : { assertion: readAssertion(assertion) }),
  };
}

function readAssertion(assertion: ExactObject): Assertion {
  return {
    statement: textAt(assertion, "statement"),
    authenticatorData: bytesAt(assertion, "authenticatorData"),
    clientDataJSON: bytesAt(assertion, "clientDataJSON"),
    signature: bytesAt(assertion, "signature"),
  };
}

function readPolicy(policy: ExactObject): ReceiptClaims["policy"] {
  return {
    required: wholeAt(policy, "required"),
    stages: wholesAt(policy, "stages"),
    signature: policy.has("signature") ? booleanAt(policy, "signature") : false,
    ...(policy.has("approvers") ? { approvers: textAt(policy, "approvers") } : {}),
  };
}

function readShown(shown: ExactObject | null): ReceiptClaims["shown"] {
  return shown === null ? null : { v: wholeAt(shown, "v"), digest: digestAt(shown, "digest") };
}

function readDigested(digested: ExactObject): Digested {
  return { digest: nullableDigestAt(digested, "digest"), bytes: wholeAt(digested, "bytes") };
}

function readEffective(claims: ExactObject, decision: string): Digested | null {
  const effective = nullableObjectAt(claims, "effective");
  if ((effective === null) !== (decision === "rejected")) {
    throw new ShapeError("effective must be there for an approval, and null for a rejection");
  }
  return effective === null ? null : readDigested(effective);
}

function readLog(log: ExactObject | null): ReceiptClaims["log"] {
  return log === null ? null : { origin: textAt(log, "origin") };
}

/** A claim's seconds in words. They may be more than any calendar has, and must still be told. */
export function timeOf(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? `Unix time ${seconds}` : time.toISOString();
}
