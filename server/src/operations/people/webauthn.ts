// The WebAuthn library and our site in its words, for everything that passkeys are used for.

export type WebAuthn = Awaited<ReturnType<typeof loadWebAuthn>>;

/** Loaded at the first call, before any transaction: the library takes time and memory, which only its users pay. */
export async function loadWebAuthn() {
  const [library, { COSEALG, decodeAttestationObject, isoBase64URL }] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  return {
    ...library,
    decodeAttestationObject,
    isoBase64URL,
    /** Every authenticator supports it. By itself the library would prefer an algorithm that is experimental in Node. */
    supportedAlgorithmIDs: [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256],
  };
}

/** A passkey belongs to a host, and is used on one origin of it. */
export function siteOf(publicUrl: string): { expectedRPID: string; expectedOrigin: string } {
  const { hostname, origin } = new URL(publicUrl);
  return { expectedRPID: hostname, expectedOrigin: origin };
}
