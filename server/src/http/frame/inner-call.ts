// The key on whose behalf the service calls its own router. A connected client has a token and no key, so its inner calls
// carry the digest of its key, by a way that no call from outside can take.

import { AsyncLocalStorage } from "node:async_hooks";

const digests = new AsyncLocalStorage<Buffer>();

/** Null for every call from outside. */
export function innerKeyDigest(): Buffer | null {
  return digests.getStore() ?? null;
}

export function asKey<Result>(keyDigest: Buffer, work: () => Result): Result {
  return digests.run(keyDigest, work);
}
