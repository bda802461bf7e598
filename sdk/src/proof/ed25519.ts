// Ed25519 signatures (RFC 8032) by Web Crypto.

import { CountersignError } from "../errors.ts";
import type { Bytes } from "./bytes.ts";

/** Named by how it is made: not every set of types has its name. */
type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const imported = new Map<string, ImportedKey>();
const importedMax = 64;

/** Whether the signature over these bytes is by this key. */
export type IsSigned = (
  publicKey: Uint8Array,
  bytes: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;

export async function isSignedByEd25519(
  publicKey: Uint8Array,
  bytes: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const key = await keyOf(publicKey);
  if (key === null) return false;
  return crypto.subtle.verify("Ed25519", key, signature as Bytes, bytes as Bytes);
}

/** Null if the bytes are no point of the curve. */
async function keyOf(publicKey: Uint8Array): Promise<ImportedKey | null> {
  const name = publicKey.join();
  const known = imported.get(name);
  if (known !== undefined) return known;
  try {
    const key = await crypto.subtle.importKey("raw", publicKey as Bytes, "Ed25519", false, [
      "verify",
    ]);
    if (imported.size >= importedMax) imported.clear();
    imported.set(name, key);
    return key;
  } catch (error) {
    // A runtime that knows no Ed25519 can't tell, which is no "no".
    if ((error as { name?: string } | null)?.name !== "NotSupportedError") return null;
    throw new CountersignError("this runtime's Web Crypto has no Ed25519: use a newer one", {
      code: "runtime_without_ed25519",
      cause: error,
    });
  }
}
