// A passkey's public key in COSE (RFC 9052), of the algorithms that the service asks for: ES256, EdDSA and RS256.

import { type Bytes, concat } from "./bytes.ts";
import { isSignedByEd25519 } from "./ed25519.ts";

type CborKey = Map<number, number | Uint8Array>;
type Reader = { bytes: Uint8Array; at: number };

const [keyType, algorithm] = [1, 3];
/** By `kty` and `alg`. */
const kinds = new Map([
  ["2:-7", "ES256"],
  ["1:-8", "EdDSA"],
  ["3:-257", "RS256"],
]);

/** Whether the signature is by this key. False also where the key can't be read. */
export async function isSignedByCose(
  coseKey: Uint8Array,
  bytes: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const key = readCborKey(coseKey);
  switch (kinds.get(`${key?.get(keyType)}:${key?.get(algorithm)}`)) {
    case "ES256":
      return isSignedByP256(key as CborKey, bytes, signature);
    case "EdDSA":
      return isSignedByOkp(key as CborKey, bytes, signature);
    case "RS256":
      return isSignedByRsa(key as CborKey, bytes, signature);
    default:
      return false;
  }
}

async function isSignedByP256(key: CborKey, bytes: Uint8Array, der: Uint8Array): Promise<boolean> {
  const [curve, x, y] = [key.get(-1), key.get(-2), key.get(-3)];
  const signature = rawSignatureOf(der);
  if (curve !== 1 || !isBytes(x, 32) || !isBytes(y, 32) || signature === null) return false;
  const point = concat(Uint8Array.of(4), x, y);
  const kind = { name: "ECDSA", namedCurve: "P-256" };
  return isVerified(
    () => crypto.subtle.importKey("raw", point, kind, false, ["verify"]),
    { name: "ECDSA", hash: "SHA-256" },
    { bytes, signature },
  );
}

async function isSignedByOkp(key: CborKey, bytes: Uint8Array, signature: Uint8Array) {
  const [curve, x] = [key.get(-1), key.get(-2)];
  return curve === 6 && isBytes(x, 32) && isSignedByEd25519(x, bytes, signature);
}

async function isSignedByRsa(key: CborKey, bytes: Uint8Array, signature: Uint8Array) {
  const [modulus, exponent] = [key.get(-1), key.get(-2)];
  if (!(modulus instanceof Uint8Array) || !(exponent instanceof Uint8Array)) return false;
  if (modulus.length < 256) return false;
  const kind = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const spki = rsaSpki(modulus, exponent);
  return isVerified(
    () => crypto.subtle.importKey("spki", spki, kind, false, ["verify"]),
    kind.name,
    { bytes, signature },
  );
}

/** A key that can't be imported has signed nothing. */
async function isVerified(
  importKey: () => ReturnType<typeof crypto.subtle.importKey>,
  kind: Parameters<typeof crypto.subtle.verify>[0],
  { bytes, signature }: { bytes: Uint8Array; signature: Uint8Array },
): Promise<boolean> {
  const key = await importKey().catch(() => null);
  if (key === null) return false;
  return crypto.subtle.verify(kind, key, signature as Bytes, bytes as Bytes);
}

function isBytes(value: number | Uint8Array | undefined, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length === length;
}

/** From ASN.1's two integers to two numbers of 32 bytes, as Web Crypto wants them. */
function rawSignatureOf(der: Uint8Array): Bytes | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  const r = integerAt(der, 2);
  const s = r === null ? null : integerAt(der, 4 + (der[3] ?? 0));
  const isWhole = r !== null && s !== null && 6 + (der[3] ?? 0) + s.length === der.length;
  if (!isWhole) return null;
  const [one, other] = [padded(r), padded(s)];
  return one === null || other === null ? null : concat(one, other);
}

/** Strict DER: as short as it can be, and not negative. */
function integerAt(der: Uint8Array, at: number): Uint8Array | null {
  const length = der[at + 1] ?? 0;
  const bytes = der.subarray(at + 2, at + 2 + length);
  if (der[at] !== 2 || length === 0 || bytes.length !== length) return null;
  const [first = 0, second = 0] = bytes;
  const isNegative = first >= 128;
  const isLong = length > 1 && first === 0 && second < 128;
  return isNegative || isLong ? null : bytes;
}

function padded(integer: Uint8Array): Bytes | null {
  const bytes = integer[0] === 0 ? integer.subarray(1) : integer;
  if (bytes.length > 32) return null;
  return concat(new Uint8Array(32 - bytes.length), bytes);
}

/** SubjectPublicKeyInfo, because not every runtime imports RSA keys from JWK with the same strictness. */
function rsaSpki(modulus: Uint8Array, exponent: Uint8Array): Bytes {
  const rsaEncryption = Uint8Array.of(
    ...[0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00],
  );
  const key = tlv(0x30, concat(derInteger(modulus), derInteger(exponent)));
  return tlv(0x30, concat(rsaEncryption, tlv(0x03, concat(Uint8Array.of(0), key))));
}

function derInteger(bytes: Uint8Array): Bytes {
  const sign = (bytes[0] ?? 0) >= 128 ? Uint8Array.of(0) : new Uint8Array();
  return tlv(0x02, concat(sign, bytes));
}

function tlv(tag: number, content: Uint8Array): Bytes {
  const { length } = content;
  if (length < 128) return concat(Uint8Array.of(tag, length), content);
  const bytes = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return concat(Uint8Array.of(tag, ...bytes), content);
}

/** A CBOR map whose names are whole numbers and whose values are numbers and bytes. Null if it is anything else. */
function readCborKey(bytes: Uint8Array): CborKey | null {
  const reader: Reader = { bytes, at: 0 };
  const head = readHead(reader);
  if (head?.major !== 5) return null;
  const key: CborKey = new Map();
  for (let left = head.value; left > 0; left -= 1) {
    const [name, value] = [readItem(reader), readItem(reader)];
    if (typeof name !== "number" || value === null || key.has(name)) return null;
    key.set(name, value);
  }
  return reader.at === bytes.length ? key : null;
}

function readItem(reader: Reader): number | Uint8Array | null {
  const head = readHead(reader);
  if (head?.major === 0) return head.value;
  if (head?.major === 1) return -1 - head.value;
  if (head?.major !== 2) return null;
  const value = reader.bytes.subarray(reader.at, reader.at + head.value);
  reader.at += head.value;
  return value.length === head.value ? value : null;
}

function readHead(reader: Reader): { major: number; value: number } | null {
  const first = reader.bytes[reader.at];
  if (first === undefined) return null;
  const [major, short] = [first >> 5, first & 31];
  reader.at += 1;
  if (short < 24) return { major, value: short };
  const length = short === 24 ? 1 : short === 25 ? 2 : 0;
  const bytes = reader.bytes.subarray(reader.at, reader.at + length);
  if (length === 0 || bytes.length !== length) return null;
  reader.at += length;
  return { major, value: bytes.reduce((value, byte) => value * 256 + byte, 0) };
}
