// The keys of the published test vectors. Everybody knows them: they must sign nothing but vectors.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

export type TestKey = { kid: string; privateKey: KeyObject; raw: Buffer };

export function digest(text: string | Uint8Array): Buffer {
  return createHash("sha256").update(text).digest();
}

export function base64url(bytes: Uint8Array | string): string {
  return Buffer.from(bytes as Uint8Array).toString("base64url");
}

/** An Ed25519 key whose seed is the SHA-256 of a phrase. */
export function ed25519Key(phrase: string): TestKey {
  const prefix = Buffer.from("302e020100300506032b657004220420", "hex");
  const der = Buffer.concat([prefix, digest(`countersign test key: ${phrase}`)]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const kid = base64url(digest(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));
  return { kid, privateKey, raw: Buffer.from(x, "base64url") };
}

export type Passkey = {
  id: string;
  /** COSE. */
  publicKey: Buffer;
  sign: (bytes: Uint8Array) => Buffer;
};

export function ed25519Passkey(phrase: string): Passkey {
  const { privateKey, raw } = ed25519Key(phrase);
  return {
    id: base64url(digest(`credential: ${phrase}`).subarray(0, 16)),
    publicKey: Buffer.concat([Buffer.from("a4010103272006215820", "hex"), raw]),
    sign: (bytes) => sign(null, bytes, privateKey),
  };
}

const p256 = {
  kty: "EC",
  crv: "P-256",
  x: "8vvIOpJWVOIsEqJN9uSCziQhjmLGRY8ZHJot1YVjis0",
  y: "njLF_ga6CztVBYUogeNOPFF46DB3P_Skl-xiCwXNXo0",
  d: "rsHjNfbnKYwiEqAeX4_W38aYg3u8ehRi7CGmK5qR7RM",
};

/** ECDSA signs differently each time: signatures that were made before are kept, so that the file stays the same. */
export function p256Passkey(phrase: string, madeBefore: ReadonlySet<string>): Passkey {
  const privateKey = createPrivateKey({ key: p256, format: "jwk" });
  const [x, y] = [p256.x, p256.y].map((part) => Buffer.from(part, "base64url")) as [Buffer, Buffer];
  const start = Buffer.from("a5010203262001215820", "hex");
  return {
    id: base64url(digest(`credential: ${phrase}`).subarray(0, 16)),
    publicKey: Buffer.concat([start, x, Buffer.from("225820", "hex"), y]),
    sign: (bytes) => {
      for (const text of madeBefore) {
        const kept = Buffer.from(text, "base64url");
        if (kept[0] === 0x30 && verify("sha256", bytes, createPublicKey(privateKey), kept))
          return kept;
      }
      return sign("sha256", bytes, privateKey);
    },
  };
}
