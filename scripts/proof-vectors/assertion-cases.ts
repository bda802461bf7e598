// The cases of decisions that people signed with passkeys.

import { caseOf, type ReceiptCase } from "./receipt-cases.ts";
import {
  assertionOf,
  type Ceremony,
  decidedAt,
  digested,
  receiptOf,
  signedBy,
  statementOf,
} from "./receipt-parts.ts";
import { base64url, digest, type Passkey } from "./test-keys.ts";

export function assertionCases(ann: Passkey, ben: Passkey): ReceiptCase[] {
  const pinned = (passkey: Passkey, email?: string) => ({
    id: passkey.id,
    publicKey: base64url(passkey.publicKey),
    ...(email === undefined ? {} : { email }),
  });
  const credentials = [pinned(ann, "ann@example.com"), pinned(ben)];
  const by = (name: string, says: string, ceremony: Ceremony = {}, more = {}) =>
    caseOf(name, receiptOf(signedBy(["ann@example.com", ann, ceremony])), says, {
      credentials,
      ...more,
    });
  const statement = JSON.stringify(statementOf());
  const both = receiptOf(signedBy(["ann@example.com", ann], ["ben@example.com", ben]));
  const rejection = { decision: "rejected", effective: null };
  const reject = { statement: { verdict: "reject", effective: null } };
  return [
    by("signed by a person", "person-signed"),
    by(
      "signed by a person whose key isn't known here",
      "operator-signed",
      {},
      { credentials: undefined },
    ),
    caseOf("signed by two people", both, "person-signed", { credentials }),
    caseOf(
      "a rejection signed by a person",
      receiptOf({ ...signedBy(["ann@example.com", ann, reject]), ...rejection }),
      "person-signed",
      { allowRejected: true, credentials },
    ),
    by("signed before there was a log", "person-signed", { statement: { checkpoint: null } }),
    by("signed about another request", "assertion_other_request", {
      statement: { request: "req_019a87c0f3b47d1e8a2c5b6d7e8f9a0c" },
    }),
    by("signed in another workspace", "assertion_other_request", {
      statement: { workspace: "ws_other" },
    }),
    by("signed about another payload", "assertion_other_payload", {
      statement: { payload: base64url(digest("1")) },
    }),
    by("signed about another effective payload", "assertion_other_payload", {
      statement: { effective: base64url(digest("1")) },
    }),
    by("signed as a rejection", "assertion_other_verdict", {
      statement: { verdict: "reject", effective: null },
    }),
    by("signed for another audience", "assertion_other_audience", {
      statement: { audience: ["attacker.example.com"] },
    }),
    by("signed in the last second of its time", "person-signed", {
      statement: { expires: "2026-11-15T13:00:00.000Z" },
    }),
    by("signed for a time that was over when it was decided", "assertion_invalid", {
      statement: { expires: "2026-11-15T12:59:59.999Z" },
    }),
    by("signed for a time that is none", "malformed", { statement: { expires: "9999" } }),
    by("signed about another page", "assertion_invalid", {
      statement: { shown: base64url(digest("another page")) },
    }),
    by(
      "stray also where no key is known",
      "assertion_other_request",
      { statement: { request: "req_019a87c0f3b47d1e8a2c5b6d7e8f9a0c" } },
      { credentials: undefined },
    ),
    by("without user verification", "assertion_not_verified", { flags: 0x01 }),
    by("without anybody there", "assertion_invalid", { flags: 0x04 }),
    by("with another passkey", "credential_unknown", {}, { credentials: [pinned(ben)] }),
    by(
      "with a passkey of somebody else",
      "credential_unknown",
      {},
      { credentials: [pinned(ann, "ben@example.com")] },
    ),
    by("with no passkey known", "credential_unknown", {}, { credentials: [] }),
    by(
      "with another key under the passkey's name",
      "assertion_invalid",
      {},
      { credentials: [{ ...pinned(ben), id: ann.id }] },
    ),
    by(
      "with a key that isn't one",
      "assertion_invalid",
      {},
      { credentials: [{ id: ann.id, publicKey: "AAAA" }] },
    ),
    by("with another text than was signed", "assertion_invalid", {
      statement: { expires: "2026-11-17T13:00:00.000Z" },
      claimed: statement,
    }),
    by("on another site", "assertion_invalid", {
      client: { origin: "https://approvals.example.net" },
    }),
    by("inside another site", "assertion_invalid", { client: { crossOrigin: true } }),
    by("with the passkey of another site", "assertion_invalid", { rpId: "example.com" }),
    by("by making a passkey", "assertion_invalid", { client: { type: "webauthn.create" } }),
    by("a statement with one more member", "malformed", { statement: { later: 1 } }),
    by("a statement with a member twice", "malformed", {
      statementText: statement.replace("{", '{"verdict":"reject",'),
    }),
    by("a statement that lacks a member", "malformed", { statement: { expires: undefined } }),
    by("a statement that is no JSON", "malformed", { statementText: "approve" }),
    caseOf("one of two votes unsigned", receiptOf({ by: oneUnsigned(ann) }), "assertion_missing", {
      credentials,
    }),
    caseOf(
      "one passkey for two votes",
      receiptOf(signedBy(["ann@example.com", ann], ["ann@example.com", ann])),
      "assertion_invalid",
      { credentials },
    ),
    caseOf(
      "one person's two passkeys for two votes",
      receiptOf(signedBy(["ann@example.com", ann], ["Ann@example.com", ben])),
      "assertion_invalid",
      { credentials },
    ),
    caseOf(
      "the assertion of an older decision",
      receiptOf({
        ...signedBy(["ann@example.com", ann]),
        payload: digested("1"),
        effective: digested("1"),
        iat: decidedAt,
      }),
      "assertion_other_payload",
      { payload: "1", credentials },
    ),
    caseOf("a changed signature", receiptOf({ by: changedSignature(ann) }), "assertion_invalid", {
      credentials,
    }),
  ];
}

function oneUnsigned(ann: Passkey): object[] {
  const [signed] = signedBy(["ann@example.com", ann]).by as object[];
  return [
    { email: "ben@example.com", at: "2026-11-15T12:59:00.000Z", amr: ["mail"] },
    signed as object,
  ];
}

function changedSignature(ann: Passkey): object[] {
  const assertion = assertionOf(ann);
  const bytes = Buffer.from(assertion.signature ?? "", "base64url");
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const [vote] = signedBy(["ann@example.com", ann]).by as object[];
  return [{ ...vote, assertion: { ...assertion, signature: base64url(bytes) } }];
}
