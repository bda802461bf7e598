// Says to a push service who sends (RFC 8292): a token signed with the key that browsers subscribed to.

import { createPrivateKey, type KeyObject, sign } from "node:crypto";

/** The service's key pair: an uncompressed point of P-256, and its private half as a key. */
export type PushSender = { publicKey: Buffer; privateKey: KeyObject };

/** Push services take at most 24 hours, and some clocks are wrong. */
const validSeconds = 12 * 3_600;

export type VapidInput = {
  sender: PushSender;
  /** Where the message goes. The token is good for this origin alone. */
  endpoint: string;
  /** Where the operator of a push service can ask: an https address or a mailto. */
  subject: string;
  now: Date;
};

/** The value of the Authorization header. */
export function vapidAuthorization({ sender, endpoint, subject, now }: VapidInput): string {
  const expiresAt = Math.floor(now.getTime() / 1000) + validSeconds;
  const claims = { aud: new URL(endpoint).origin, exp: expiresAt, sub: subject };
  const signed = `${encode({ typ: "JWT", alg: "ES256" })}.${encode(claims)}`;
  const key = { key: sender.privateKey, dsaEncoding: "ieee-p1363" } as const;
  const signature = sign("sha256", Buffer.from(signed), key).toString("base64url");
  return `vapid t=${signed}.${signature}, k=${sender.publicKey.toString("base64url")}`;
}

/** Push services take no plain http as a subject. The mailbox that mails come from has an operator, too. */
export function vapidSubject(publicUrl: string, mailFrom: string): string {
  return publicUrl.startsWith("https://") ? publicUrl : `mailto:${mailFrom}`;
}

export function toPushSender(publicKey: Buffer, privateKey: Buffer): PushSender {
  const jwk = { ...publicJwkOf(publicKey), d: privateKey.toString("base64url") };
  return { publicKey, privateKey: createPrivateKey({ key: jwk, format: "jwk" }) };
}

/** The two coordinates follow a byte that says that both are there. */
export function publicJwkOf(publicKey: Buffer) {
  const x = publicKey.subarray(1, 33).toString("base64url");
  const y = publicKey.subarray(33).toString("base64url");
  return { kty: "EC", crv: "P-256", x, y };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
