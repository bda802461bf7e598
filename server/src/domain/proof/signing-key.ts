// The Ed25519 keys with which receipts and checkpoints are signed: their names, their public form, and signing.

import { createPrivateKey, hash, type KeyObject, sign } from "node:crypto";

/** Signs for the installation. Ed25519 is deterministic: the same key and bytes always give the same signature. */
export type Signer = {
  /** The RFC 7638 thumbprint of the public key; `kid` in receipts. */
  id: string;
  publicKey: Buffer;
  sign(bytes: Uint8Array): Buffer;
};

/** What everybody may know of a signing key. */
export type SigningKey = {
  id: string;
  publicKey: Buffer;
  createdAt: Date;
  /** It signs nothing since. What it signed before still counts. */
  retiredAt: Date | null;
  /** Nothing that it ever signed counts. */
  revokedAt: Date | null;
};

/** The name under which the private half is sealed. */
export function signingKeyRecordOf(id: string): string {
  return `signing_keys/${id}`;
}

/** A JWK thumbprint (RFC 7638; RFC 8037 says which members an Ed25519 key has), in base64url. */
export function thumbprintOf(publicKey: Uint8Array): string {
  const { crv, kty, x } = publicJwkOf(publicKey);
  return hash("sha256", JSON.stringify({ crv, kty, x }), "base64url");
}

export function publicJwkOf(publicKey: Uint8Array) {
  return { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey).toString("base64url") };
}

/** `seed` is the private half: 32 bytes. */
export function signerOf(publicKey: Buffer, seed: Buffer): Signer {
  const jwk = { ...publicJwkOf(publicKey), d: seed.toString("base64url") };
  const privateKey: KeyObject = createPrivateKey({ key: jwk, format: "jwk" });
  return {
    id: thumbprintOf(publicKey),
    publicKey,
    sign: (bytes) => sign(null, bytes, privateKey),
  };
}

/** The key set that verifiers fetch. Without `alg`, because some libraries skip keys whose `alg` is `Ed25519`. */
export function keySetOf(keys: readonly SigningKey[]) {
  return {
    keys: keys.filter(({ revokedAt }) => revokedAt === null).map(toJwk),
    revoked: keys.flatMap(({ id, revokedAt }) =>
      revokedAt === null ? [] : [{ kid: id, revokedAt: Math.floor(revokedAt.getTime() / 1000) }],
    ),
  };
}

function toJwk({ id, publicKey, createdAt, retiredAt }: SigningKey) {
  return {
    ...publicJwkOf(publicKey),
    kid: id,
    use: "sig",
    iat: Math.floor(createdAt.getTime() / 1000),
    // Rounded up, so that no receipt of its last second seems to be signed too late.
    ...(retiredAt === null ? {} : { retiredAt: Math.ceil(retiredAt.getTime() / 1000) }),
  };
}
