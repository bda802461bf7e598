// What receipts of the vectors are made of, written a second time: none of the service's code is used here.

import { sign } from "node:crypto";
import { base64url, digest, ed25519Key, type Passkey, type TestKey } from "./test-keys.ts";

export const issuer = "https://approvals.example.com";
export const audience = "payments.example.com";
export const decidedAt = 1_794_747_600;
export const now = decidedAt + 60;
export const ws = "ws_019a87c0a1b27c3d8e4f5a6b7c8d9e0f";
export const requestId = "req_019a87c0f3b47d1e8a2c5b6d7e8f9a0b";
export const payload = '{"to": "Müller GmbH", "amount": 9007199254740993, "rate": 1.0}';

export const keys = {
  current: ed25519Key("current"),
  retired: ed25519Key("retired"),
  revoked: ed25519Key("revoked"),
  attacker: ed25519Key("attacker"),
};

export type Header = Record<string, unknown>;
export type Claims = Record<string, unknown>;

export function headerOf({ kid }: TestKey): Header {
  return { alg: "Ed25519", typ: "countersign-receipt+jwt", kid };
}

export function jwk({ kid, raw }: TestKey, more: object = {}): object {
  return {
    kty: "OKP",
    crv: "Ed25519",
    x: base64url(raw),
    kid,
    use: "sig",
    iat: 1_790_000_000,
    ...more,
  };
}

export const keySets: Record<string, object> = {
  published: {
    keys: [jwk(keys.current), jwk(keys.retired, { retiredAt: decidedAt - 3_600 })],
    revoked: [{ kid: keys.revoked.kid, revokedAt: decidedAt - 7_200 }],
  },
  "retired after the decision": {
    keys: [jwk(keys.attacker), jwk(keys.current, { retiredAt: decidedAt })],
    revoked: [],
  },
  "revoked, and listed all the same": {
    keys: [jwk(keys.current)],
    revoked: [{ kid: keys.current.kid, revokedAt: now }],
  },
  "another key under the name": {
    keys: [jwk(keys.attacker, { kid: keys.current.kid })],
    revoked: [],
  },
  "of another curve": { keys: [jwk(keys.current, { crv: "X25519" })], revoked: [] },
  "padded x": {
    keys: [jwk(keys.current, { x: `${base64url(keys.current.raw)}=` })],
    revoked: [],
  },
  empty: { keys: [], revoked: [] },
};

export function digested(text: string | null): object {
  if (text === null) return { digest: null, bytes: 0 };
  return { digest: base64url(digest(text)), bytes: Buffer.byteLength(text) };
}

export const shown = { v: 2, digest: base64url(digest("what was shown")) };

export function claimsOf(changes: Claims = {}): Claims {
  return {
    iss: issuer,
    aud: [audience],
    sub: requestId,
    jti: "evt_019a87c5d0017a2b9c3d4e5f60718293",
    iat: decidedAt,
    nbf: decidedAt,
    exp: decidedAt + 86_400,
    ws,
    decision: "approved",
    edited: false,
    by: [{ email: "ann@example.com", at: "2026-11-15T13:00:00.123Z", amr: ["mail", "code"] }],
    policy: { required: 1, stages: [1] },
    shown,
    payload: digested(payload),
    effective: digested(payload),
    log: { origin: `approvals.example.com/log/${ws}` },
    level: "operator-signed",
    ...changes,
  };
}

/** Signs header and claims as they are, whatever they are. */
export function signText(header: string, claims: string | Uint8Array, key = keys.current): string {
  const signed = `${base64url(Buffer.from(header))}.${base64url(Buffer.from(claims as string))}`;
  return `${signed}.${base64url(sign(null, Buffer.from(signed), key.privateKey))}`;
}

export function receiptOf(
  changes: Claims = {},
  key = keys.current,
  header = headerOf(key),
): string {
  return signText(JSON.stringify(header), JSON.stringify(claimsOf(changes)), key);
}

export type Ceremony = {
  statement?: Record<string, unknown>;
  /** Instead of the statement's own text. */
  statementText?: string;
  /** Put into the receipt instead of what was signed. */
  claimed?: string;
  client?: Record<string, unknown>;
  rpId?: string;
  flags?: number;
};

export function statementOf(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    request: requestId,
    workspace: ws,
    verdict: "approve",
    revision: 1,
    payload: base64url(digest(payload)),
    effective: base64url(digest(payload)),
    shown: shown.digest,
    audience: [audience],
    expires: "2026-11-16T13:00:00.000Z",
    checkpoint: `approvals.example.com/log/${ws}\n3\n${digest("root").toString("base64")}\n`,
    ...changes,
  };
}

/** What the authenticator answers. */
export function assertionOf(passkey: Passkey, ceremony: Ceremony = {}): Record<string, string> {
  const statement = ceremony.statementText ?? JSON.stringify(statementOf(ceremony.statement));
  const challenge = base64url(digest(`countersign decision v1\0${statement}`));
  const clientData = Buffer.from(
    JSON.stringify({
      type: "webauthn.get",
      challenge,
      origin: issuer,
      crossOrigin: false,
      ...ceremony.client,
    }),
  );
  const authenticatorData = Buffer.concat([
    digest(ceremony.rpId ?? "approvals.example.com"),
    Buffer.from([ceremony.flags ?? 0x05, 0, 0, 0, 7]),
  ]);
  const signature = passkey.sign(Buffer.concat([authenticatorData, digest(clientData)]));
  return {
    statement: ceremony.claimed ?? statement,
    authenticatorData: base64url(authenticatorData),
    clientDataJSON: base64url(clientData),
    signature: base64url(signature),
  };
}

/** The claims of a receipt whose every vote has an assertion. */
export function signedBy(...votes: [email: string, Passkey, Ceremony?][]): Claims {
  return {
    by: votes.map(([email, passkey, ceremony], at) => ({
      email,
      at: `2026-11-15T13:00:0${at}.123Z`,
      amr: ["session", "passkey"],
      cred: passkey.id,
      assertion: assertionOf(passkey, ceremony),
    })),
    policy: { required: votes.length, stages: [votes.length], signature: true },
    level: "person-signed",
  };
}
