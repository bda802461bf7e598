// An authenticator without a browser around it: real keys and signatures, and everything that it says can be bent.

import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from "node:crypto";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";

/** The values that a browser and an authenticator get wrong. */
export type Bent = {
  challenge?: string;
  origin?: string;
  rpId?: string;
  counter?: number;
  isUserVerified?: boolean;
  userHandle?: string | null;
  format?: string;
  credentialId?: Buffer;
};

export type Authenticator = {
  readonly credentialId: string;
  /** Makes its key known. */
  create(options: PublicKeyCredentialCreationOptionsJSON, bent?: Bent): RegistrationResponseJSON;
  /** Proves that it holds the key. */
  get(options: PublicKeyCredentialRequestOptionsJSON, bent?: Bent): AuthenticationResponseJSON;
  /** Another key that claims to be this one. */
  forged(): Authenticator;
};

type Held = { origin: string; credentialId: Buffer; userHandle: string | null };

export function makeAuthenticator(origin: string): Authenticator {
  return hold({ origin, credentialId: randomBytes(32), userHandle: null });
}

function hold(held: Held): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = held.credentialId.toString("base64url");
  let { userHandle } = held;
  let counter = 0;
  const credential = { id, rawId: id, type: "public-key", clientExtensionResults: {} } as const;
  return {
    credentialId: id,
    create(options, bent = {}) {
      userHandle = options.user.id;
      const { credentialId = held.credentialId } = bent;
      const authenticatorData = Buffer.concat([
        head({ rpId: options.rp.id ?? "", hasKey: true, counter, ...bent }),
        Buffer.alloc(16),
        uint16(credentialId.length),
        credentialId,
        coseKey(publicKey),
      ]);
      const clientData = clientDataOf("webauthn.create", options.challenge, held, bent);
      const attestation = map([
        [text("fmt"), text(bent.format ?? "none")],
        [text("attStmt"), map([])],
        [text("authData"), bytes(authenticatorData)],
      ]);
      const response = {
        clientDataJSON: clientData.toString("base64url"),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal", "hybrid"],
      };
      return { ...credential, response } as RegistrationResponseJSON;
    },
    get(options, bent = {}) {
      counter += 1;
      const authenticatorData = head({
        rpId: options.rpId ?? "",
        hasKey: false,
        counter,
        ...bent,
      });
      const clientData = clientDataOf("webauthn.get", options.challenge, held, bent);
      const signed = Buffer.concat([authenticatorData, hash("sha256", clientData, "buffer")]);
      const handle = bent.userHandle === undefined ? userHandle : bent.userHandle;
      return {
        ...credential,
        response: {
          clientDataJSON: clientData.toString("base64url"),
          authenticatorData: authenticatorData.toString("base64url"),
          signature: sign("sha256", signed, privateKey).toString("base64url"),
          ...(handle === null ? {} : { userHandle: handle }),
        },
      };
    },
    forged: () => hold({ ...held, userHandle }),
  };
}

function clientDataOf(type: string, asked: string, held: Held, bent: Bent): Buffer {
  const { challenge = asked, origin = held.origin } = bent;
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

const userPresent = 0x01;
const userVerified = 0x04;
const keyIncluded = 0x40;

type Head = { rpId: string; hasKey: boolean; counter: number; isUserVerified?: boolean };

function head({ rpId, hasKey, counter, isUserVerified = true }: Head): Buffer {
  const flags = userPresent | (isUserVerified ? userVerified : 0) | (hasKey ? keyIncluded : 0);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([hash("sha256", rpId, "buffer"), Buffer.from([flags]), count]);
}

/** An ES256 key as COSE has it: kty 2, alg -7, crv 1, x and y. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  return map([
    [int(1), int(2)],
    [int(3), int(-7)],
    [int(-1), int(1)],
    [int(-2), bytes(Buffer.from(x, "base64url"))],
    [int(-3), bytes(Buffer.from(y, "base64url"))],
  ]);
}

// As much of CBOR as an authenticator needs: a kind in three bits, a number, and what it counts.

function int(value: number): Buffer {
  return value < 0 ? start(1, -1 - value) : start(0, value);
}

function bytes(content: Buffer): Buffer {
  return Buffer.concat([start(2, content.length), content]);
}

function text(content: string): Buffer {
  return Buffer.concat([start(3, Buffer.byteLength(content)), Buffer.from(content)]);
}

function map(entries: [Buffer, Buffer][]): Buffer {
  return Buffer.concat([start(5, entries.length), ...entries.flat()]);
}

function start(kind: number, value: number): Buffer {
  const first = kind << 5;
  if (value < 24) return Buffer.from([first | value]);
  if (value < 256) return Buffer.from([first | 24, value]);
  return Buffer.concat([Buffer.from([first | 25]), uint16(value)]);
}

function uint16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16BE(value);
  return buffer;
}
