// The seal on a log's head. Whoever has the database's connection can write a head, but can't seal it without SECRET_KEY.

import { createHmac, timingSafeEqual } from "node:crypto";
import { findSecretKey, isAwaited, type Keyring } from "../access/keyring.ts";

export type Head = { id: number; origin: string; size: number; root: Buffer };
export type Seal = { seal: Buffer; sealedBy: string };

/** `awaited`: SECRET_KEY lacks the key of the seal. `given up`: it is lost, as the operator says. */
export type SealState = "ours" | "changed" | "awaited" | "given up";

export function sealHead({ current }: Keyring, head: Head): Seal {
  return { seal: sealOf(current, head), sealedBy: current.id };
}

export function stateOfSeal(keyring: Keyring, head: Head, seal: Seal | null): SealState {
  if (seal === null) return "changed";
  const key = findSecretKey(keyring, seal.sealedBy);
  if (key === null) return isAwaited(keyring, seal.sealedBy) ? "awaited" : "given up";
  const expected = sealOf(key, head);
  const isEqual = seal.seal.length === expected.length && timingSafeEqual(seal.seal, expected);
  return isEqual ? "ours" : "changed";
}

function sealOf({ keyObject }: Keyring["current"], { id, origin, size, root }: Head): Buffer {
  return createHmac("sha256", keyObject)
    .update(`countersign log head v1\0${id}\0${origin}\0${size}\0`)
    .update(root)
    .digest();
}
