// The cases of receipts: each with the one word that every verifier must say.

import { createHmac, createPublicKey } from "node:crypto";
import {
  audience,
  type Claims,
  claimsOf,
  decidedAt,
  digested,
  headerOf,
  issuer,
  keys,
  now,
  payload,
  receiptOf,
  signedBy,
  signText,
} from "./receipt-parts.ts";
import { base64url, type Passkey } from "./test-keys.ts";

export type ReceiptCase = {
  name: string;
  receipt: string;
  keySet: string;
  issuer: string;
  audience: string;
  now: number;
  payload?: string | null;
  credentials?: { id: string; publicKey: string; email?: string }[];
  allowRejected?: boolean;
  proof?: string | { proof: string | null; installation?: { proof: string } | null };
  witnesses?: string[];
  /** A level, or a reason. */
  says: string;
};

export function caseOf(name: string, receipt: string, says: string, more = {}): ReceiptCase {
  return { name, receipt, keySet: "published", issuer, audience, now, payload, says, ...more };
}

const good = receiptOf();
const text = JSON.stringify(claimsOf());
const header = JSON.stringify(headerOf(keys.current));

export function plainCases(): ReceiptCase[] {
  const rejected = { decision: "rejected", effective: null };
  return [
    caseOf("approved", good, "operator-signed"),
    caseOf("approved, without comparing a payload", good, "operator-signed", {
      payload: undefined,
    }),
    caseOf("for one of several", receiptOf({ aud: ["a.example", audience] }), "operator-signed"),
    caseOf("claims of a later version", receiptOf({ later: { n: 1.5 } }), "operator-signed"),
    caseOf(
      "without a payload",
      receiptOf({ payload: digested(null), effective: digested(null) }),
      "operator-signed",
      { payload: null },
    ),
    caseOf(
      "decided before evidence was kept",
      receiptOf({ shown: null, log: null }),
      "operator-signed",
    ),
    caseOf(
      "edited",
      receiptOf({ edited: true, effective: digested('{"amount": 1}') }),
      "operator-signed",
      { payload: '{"amount": 1}' },
    ),
    caseOf("a rejection, asked about", receiptOf(rejected), "operator-signed", {
      allowRejected: true,
    }),
    caseOf("a rejection", receiptOf(rejected), "rejected"),
    caseOf("the last second", good, "operator-signed", { now: decidedAt + 86_399 }),
    caseOf("expired", good, "expired", { now: decidedAt + 86_400 }),
    caseOf("a clock that is behind by a minute", good, "operator-signed", { now: decidedAt - 60 }),
    caseOf("not yet valid", good, "not_yet_valid", { now: decidedAt - 61 }),
    caseOf("wrong audience", good, "wrong_audience", { audience: "attacker.example.com" }),
    caseOf("an audience that only begins like it", good, "wrong_audience", {
      audience: "payments",
    }),
    caseOf("wrong issuer", good, "wrong_issuer", { issuer: "https://approvals.example.net" }),
    caseOf("issuer with a slash", good, "wrong_issuer", { issuer: `${issuer}/` }),
    ...keyCases(),
    ...payloadCases(),
  ];
}

function keyCases(): ReceiptCase[] {
  const { retired, revoked, attacker, current } = keys;
  const before = { iat: decidedAt - 3_600, nbf: decidedAt - 3_600 };
  return [
    caseOf("retired key, signed before", receiptOf(before, retired), "operator-signed"),
    caseOf("retired key", receiptOf({}, retired), "key_retired"),
    caseOf("the current key, retired since", good, "operator-signed", {
      keySet: "retired after the decision",
    }),
    caseOf("revoked key", receiptOf({}, revoked), "key_revoked"),
    caseOf("revoked key that is listed", good, "key_revoked", {
      keySet: "revoked, and listed all the same",
    }),
    caseOf("unknown key", receiptOf({}, attacker), "key_unknown"),
    caseOf(
      "another key under our key's name",
      receiptOf({}, attacker, headerOf(current)),
      "signature_invalid",
    ),
    caseOf(
      "our key under another's name",
      receiptOf({}, current, headerOf(retired)),
      "signature_invalid",
    ),
    caseOf(
      "a key set that lies about a name",
      receiptOf({}, attacker, headerOf(current)),
      "key_unknown",
      { keySet: "another key under the name" },
    ),
    caseOf("a key set of another curve", good, "key_unknown", { keySet: "of another curve" }),
    caseOf("a key set with padding", good, "key_unknown", { keySet: "padded x" }),
    caseOf("an empty key set", good, "key_unknown", { keySet: "empty" }),
  ];
}

function payloadCases(): ReceiptCase[] {
  const other = (name: string, given: string | null, says: string, inside = payload) => {
    const changes = { payload: digested(inside), effective: digested(inside) };
    return [
      caseOf(name, receiptOf(changes), "payload_differs", { payload: given }),
      caseOf(`${name}, embedded`, receiptOf({ ...changes, text: inside }), says, {
        payload: given,
      }),
    ];
  };
  return [
    caseOf("embedded", receiptOf({ text: payload }), "operator-signed"),
    caseOf(
      "embedded, another",
      receiptOf({ text: payload.replace("993", "992") }),
      "embedded_differs",
    ),
    ...other("another payload", '{"to": "Eve", "amount": 1}', "payload_differs"),
    ...other("…992 for …993", payload.replace("993", "992"), "payload_differs"),
    ...other("1 for 1.0", payload.replace("1.0", "1"), "payload_same_value"),
    ...other("1.0 for 1", "1.0", "payload_same_value", "1"),
    ...other("100 for 1e2", "100", "payload_same_value", "1e2"),
    ...other("0.1 for 0.1000000000000000055", "0.1", "payload_differs", "0.1000000000000000055"),
    ...other("other spaces", payload.replaceAll(": ", ":"), "payload_same_value"),
    ...other(
      "another order",
      '{"b": 2, "a": [1, true]}',
      "payload_same_value",
      '{"a": [1, true], "b": 2}',
    ),
    ...other("another spelling of a text", '"\\u00fc"', "payload_same_value", '"ü"'),
    ...other("another form of Unicode", '"u\u0308"', "payload_differs", '"ü"'),
    ...other("a name that comes twice", '{"a": 1, "a": 1}', "payload_differs", '{"a": 1}'),
    ...other("a text for a number", '"1"', "payload_differs", "1"),
    ...other("a newline at the end", `${payload}\n`, "payload_same_value"),
    ...other("nothing", "", "payload_differs"),
    ...other("no payload for one", null, "payload_differs"),
    caseOf(
      "a payload where none was approved",
      receiptOf({ payload: digested(null), effective: digested(null) }),
      "payload_differs",
      { payload: "null" },
    ),
  ];
}

/** Each claim changed: with the old signature, and signed anew. */
export function claimCases(): ReceiptCase[] {
  const changed: Claims = {
    iss: "https://approvals.example.net",
    aud: ["attacker.example.com"],
    sub: "req_019a87c0f3b47d1e8a2c5b6d7e8f9a0c",
    jti: "evt_019a87c5d0017a2b9c3d4e5f60718294",
    iat: decidedAt + 1,
    nbf: now + 61,
    exp: now,
    ws: "ws_019a87c0a1b27c3d8e4f5a6b7c8d9e0e",
    decision: "rejected",
    edited: true,
    by: [{ email: "eve@example.com", at: "2026-11-15T13:00:00.123Z", amr: ["mail"] }],
    policy: { required: 0, stages: [] },
    shown: null,
    payload: digested("1"),
    effective: digested("1"),
    log: null,
    level: "person-signed",
  };
  const [start, , signature] = good.split(".");
  return Object.entries(changed).flatMap(([name, value]) => {
    const claims = base64url(Buffer.from(JSON.stringify(claimsOf({ [name]: value }))));
    const { [name]: _, ...without } = claimsOf();
    const strange = { ...claimsOf(), [name]: name === "edited" ? "yes" : true };
    return [
      caseOf(`${name} changed`, `${start}.${claims}.${signature}`, "signature_invalid"),
      caseOf(
        `${name} missing, signed anew`,
        signText(header, JSON.stringify(without)),
        "malformed",
      ),
      caseOf(
        `${name} of another type, signed anew`,
        signText(header, JSON.stringify(strange)),
        "malformed",
      ),
      caseOf(
        `${name} changed, signed by another`,
        receiptOf({ [name]: value }, keys.attacker),
        "key_unknown",
      ),
    ];
  });
}

/**
 * Each claim changed by the operator, who has the key: found where the person's signature says otherwise. What the person
 * didn't sign stays the issuer's word, and is believed.
 */
export function operatorCases(ann: Passkey): ReceiptCase[] {
  const signed = signedBy(["ann@example.com", ann]);
  const credentials = [
    { id: ann.id, publicKey: base64url(ann.publicKey), email: "ann@example.com" },
  ];
  const anew = (name: string, changes: Claims, says: string, more = {}) =>
    caseOf(`${name} changed, signed anew`, receiptOf({ ...signed, ...changes }), says, {
      credentials,
      ...more,
    });
  const by = (signed.by as object[]).map((vote) => ({ ...vote, email: "eve@example.com" }));
  return [
    anew("iss", { iss: "https://approvals.example.net" }, "wrong_issuer"),
    anew("aud", { aud: ["attacker.example.com"] }, "wrong_audience"),
    anew("aud (one more)", { aud: [audience, "attacker.example.com"] }, "assertion_other_audience"),
    anew("sub", { sub: "req_019a87c0f3b47d1e8a2c5b6d7e8f9a0c" }, "assertion_other_request"),
    anew("iat", { iat: decidedAt + 1 }, "key_retired", { keySet: "retired after the decision" }),
    anew("nbf", { nbf: now + 61 }, "not_yet_valid"),
    anew("exp", { exp: now }, "expired"),
    anew("ws", { ws: "ws_019a87c0a1b27c3d8e4f5a6b7c8d9e0e" }, "assertion_other_request"),
    anew("decision", { decision: "rejected", effective: null }, "rejected"),
    anew(
      "decision (asked about)",
      { decision: "rejected", effective: null },
      "assertion_other_verdict",
      { allowRejected: true },
    ),
    anew("by", { by }, "credential_unknown"),
    anew("by (unsigned)", { by: claimsOf().by }, "assertion_missing"),
    anew("shown", { shown: null }, "assertion_invalid"),
    anew("payload", { payload: digested("1") }, "assertion_other_payload"),
    anew("effective", { effective: digested("1") }, "payload_differs"),
    anew("effective (as what runs)", { effective: digested("1") }, "assertion_other_payload", {
      payload: "1",
    }),
    anew("jti", { jti: "evt_019a87c5d0017a2b9c3d4e5f60718294" }, "person-signed"),
    anew("exp (years later)", { exp: 4_000_000_000 }, "person-signed"),
    anew("policy", { policy: { required: 9, stages: [9], signature: true } }, "person-signed"),
    anew("edited", { edited: true }, "person-signed"),
    anew("log", { log: null }, "person-signed"),
  ];
}

/** Forms that some library of JSON Web Tokens has once believed. */
export function formCases(): ReceiptCase[] {
  const [start = "", claims = "", signature = ""] = good.split(".");
  const headed = (name: string, changed: string | object, says: string, key = keys.current) =>
    caseOf(
      name,
      signText(typeof changed === "string" ? changed : JSON.stringify(changed), text, key),
      says,
    );
  const ours = headerOf(keys.current);
  const said = (name: string, changed: string | Buffer) =>
    caseOf(name, signText(header, changed), "malformed");
  const none = base64url(Buffer.from(JSON.stringify({ ...ours, alg: "none" })));
  const hs256 = `${base64url(Buffer.from(JSON.stringify({ ...ours, alg: "HS256" })))}.${claims}`;
  const publicPem = createPublicKey(keys.current.privateKey).export({
    type: "spki",
    format: "pem",
  });
  const mac = createHmac("sha256", publicPem as string)
    .update(hs256)
    .digest();
  return [
    caseOf("alg none", `${none}.${claims}.`, "wrong_algorithm"),
    caseOf("alg HS256 with the public key", `${hs256}.${base64url(mac)}`, "wrong_algorithm"),
    headed("alg EdDSA", { ...ours, alg: "EdDSA" }, "wrong_algorithm"),
    headed("alg in small letters", { ...ours, alg: "ed25519" }, "wrong_algorithm"),
    headed("no alg", { typ: ours.typ, kid: ours.kid }, "wrong_algorithm"),
    headed("typ JWT", { ...ours, typ: "JWT" }, "wrong_type"),
    headed("no typ", { alg: ours.alg, kid: ours.kid }, "wrong_type"),
    headed("crit", { ...ours, crit: ["exp"] }, "malformed"),
    headed("b64", { ...ours, b64: false, crit: ["b64"] }, "malformed"),
    headed(
      "jwk of an attacker",
      { ...ours, jwk: { kty: "OKP", crv: "Ed25519", x: base64url(keys.attacker.raw) } },
      "malformed",
      keys.attacker,
    ),
    headed("jku", { ...ours, jku: "https://attacker.example.com/jwks.json" }, "malformed"),
    headed("no kid", { alg: ours.alg, typ: ours.typ }, "malformed"),
    headed("kid a number", { ...ours, kid: 1 }, "malformed"),
    headed("kid a path", { ...ours, kid: "../../../dev/null" }, "key_unknown"),
    headed("kid __proto__", { ...ours, kid: "__proto__" }, "key_unknown"),
    headed("alg twice", header.replace("{", '{"alg":"none",'), "malformed"),
    headed("a header that is a list", "[]", "malformed"),
    headed("a header with something after it", `${header}x`, "malformed"),
    said("exp twice", text.replace("{", `{"exp":${decidedAt},`)),
    said("aud twice, once escaped", text.replace("{", '{"\\u0061ud":["x"],')),
    said("something after the claims", `${text}{}`),
    said("a byte order mark", `\ufeff${text}`),
    said("a lone surrogate", text.replace("evt_", "\\ud800")),
    said("a raw newline in a text", text.replace("evt_", "\n")),
    said("no UTF-8", Buffer.from(text.replace("evt_", "\xff"), "latin1")),
    said("exp with a fraction", text.replace(/"exp":(\d+)/, '"exp":$1.0')),
    said("exp with an exponent", text.replace(/"exp":\d+/, '"exp":1e99')),
    said("exp with 20 digits", text.replace(/"exp":\d+/, '"exp":99999999999999999999')),
    said("exp a text", text.replace(/"exp":(\d+)/, '"exp":"$1"')),
    said("NaN", text.replace(/"exp":\d+/, '"exp":NaN')),
    said("a leading zero", text.replace(/"exp":/, '"exp":0')),
    said("nobody decided", JSON.stringify(claimsOf({ by: [] }))),
    said("approved, and no effective payload", JSON.stringify(claimsOf({ effective: null }))),
    said("rejected, with an effective payload", JSON.stringify(claimsOf({ decision: "rejected" }))),
    said("another decision", JSON.stringify(claimsOf({ decision: "expired" }))),
    said("a digest that is too short", text.replaceAll(/"digest":"../g, '"digest":"')),
    caseOf("empty", "", "malformed"),
    caseOf("two parts", `${start}.${claims}`, "malformed"),
    caseOf("four parts", `${good}.`, "malformed"),
    caseOf("padding", `${good}=`, "malformed"),
    caseOf("a newline at the end", `${good}\n`, "malformed"),
    caseOf("a space before", ` ${good}`, "malformed"),
    caseOf("standard base64", good.replaceAll("-", "+").replaceAll("_", "/"), "malformed"),
    caseOf("the same signature in another spelling", respelled(good), "malformed"),
    caseOf("no signature", `${start}.${claims}.`, "signature_invalid"),
    caseOf(
      "half a signature",
      `${start}.${claims}.${signature.slice(0, 43)}`,
      respelledHalf(signature),
    ),
    caseOf(
      "JSON serialization",
      JSON.stringify({ payload: claims, protected: start, signature }),
      "malformed",
    ),
  ];
}

/** 64 bytes leave four spare bits in the last character. */
function respelled(receipt: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return `${receipt.slice(0, -1)}${alphabet[alphabet.indexOf(receipt.at(-1) ?? "") + 1]}`;
}

function respelledHalf(signature: string): string {
  const half = signature.slice(0, 43);
  const isCanonical = base64url(Buffer.from(half, "base64url")) === half;
  return isCanonical ? "signature_invalid" : "malformed";
}
