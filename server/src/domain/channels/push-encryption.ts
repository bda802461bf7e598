// Encrypts a push message for one browser (RFC 8291), as one record of the content coding aes128gcm (RFC 8188). The push
// service in between can't read it.

import { createCipheriv, createECDH, ECDH, hkdfSync } from "node:crypto";

/** The elliptic curve of push messages, P-256 by OpenSSL's name. */
export const pushCurve = "prime256v1";
export const pushSaltBytes = 16;
/** A push service takes at least this much, and need not take more. */
export const pushMessageBytesMax = 4_096;

/** What a browser gives to those who may send to it. */
export type PushKeys = { publicKey: Buffer; auth: Buffer };

export type PushEncryptionInput = {
  plaintext: Buffer;
  keys: PushKeys;
  /** The sender's half of the key agreement, fresh for each message. */
  senderPrivateKey: Buffer;
  salt: Buffer;
  /** The plaintext is filled up to this size, so that its length tells nothing. */
  paddedBytes?: number;
};

const headerBytes = pushSaltBytes + 4 + 1 + 65;
const tagBytes = 16;
/** Follows the plaintext in the last record. Zeros may follow. */
const lastRecord = 2;

/** Null when the browser's public key is no point of the curve. */
export function encryptPush(input: PushEncryptionInput): Buffer | null {
  const { plaintext, keys, salt, paddedBytes = plaintext.length } = input;
  const sender = createECDH(pushCurve);
  sender.setPrivateKey(input.senderPrivateKey);
  if (!isPushPublicKey(keys.publicKey)) return null;
  const senderPublicKey = sender.getPublicKey();
  const shared = sender.computeSecret(keys.publicKey);
  const info = Buffer.concat([text("WebPush: info\0"), keys.publicKey, senderPublicKey]);
  const keyMaterial = derive(shared, { salt: keys.auth, info, bytes: 32 });
  const padding = Buffer.alloc(Math.max(0, paddedBytes - plaintext.length));
  const record = Buffer.concat([plaintext, Buffer.of(lastRecord), padding]);
  if (headerBytes + record.length + tagBytes > pushMessageBytesMax) {
    throw new Error("the push message is too large");
  }
  return Buffer.concat([headerOf(salt, senderPublicKey), sealRecord(record, keyMaterial, salt)]);
}

/** An uncompressed point of the curve. Other points would tell about the sender's half. */
export function isPushPublicKey(bytes: Buffer): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  try {
    ECDH.convertKey(bytes, pushCurve);
    return true;
  } catch {
    return false;
  }
}

/** Salt, record size, and the sender's public key as the name of the key. */
function headerOf(salt: Buffer, senderPublicKey: Buffer): Buffer {
  const recordSize = Buffer.alloc(4);
  recordSize.writeUInt32BE(pushMessageBytesMax);
  return Buffer.concat([salt, recordSize, Buffer.of(senderPublicKey.length), senderPublicKey]);
}

function sealRecord(record: Buffer, keyMaterial: Buffer, salt: Buffer): Buffer {
  const key = derive(keyMaterial, {
    salt,
    info: text("Content-Encoding: aes128gcm\0"),
    bytes: 16,
  });
  const nonce = derive(keyMaterial, { salt, info: text("Content-Encoding: nonce\0"), bytes: 12 });
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  return Buffer.concat([cipher.update(record), cipher.final(), cipher.getAuthTag()]);
}

type Derivation = { salt: Buffer; info: Buffer; bytes: number };

function derive(keyMaterial: Buffer, { salt, info, bytes }: Derivation): Buffer {
  return Buffer.from(hkdfSync("sha256", keyMaterial, salt, info, bytes));
}

function text(value: string): Buffer {
  return Buffer.from(value, "latin1");
}
