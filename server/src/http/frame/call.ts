// The input and the answer of a route's handler: plain values, so that handlers know nothing of Fastify.

export type Call = {
  requestId: string;
  /** A HEAD: the answer's body will not be sent, so it need not be made. */
  isHead: boolean;
  /** The SHA-256 of the caller's API key. It has the form of a key, but may still be unknown or revoked. */
  keyDigest: Buffer;
  /** Set once a statement of this call has found the key. Only then the key counts as used. */
  isKeyKnown?: boolean;
  /**
   * Counts the call for another key, the one that a token led to, and answers if that key has to wait. Missing without a
   * rate limit.
   */
  charge?: ((keyDigest: Buffer) => Answer | null) | undefined;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  body: Uint8Array;
  /** A header's value; null when it did not come, "repeated" when it came more than once. */
  header(name: string): string | null | typeof repeated;
  /** Where the call comes from, as far as we can tell. */
  address: string | null;
  /** Aborted when the caller goes away. */
  signal: AbortSignal;
  /** Ids for this call's log line. Never a secret, a token or a body. */
  facts: { workspaceId?: string; approvalId?: string; signInFailure?: string };
};

/** The part of a call that says how its answer is read. */
export type Reader = Pick<Call, "params" | "query" | "header">;

/** The part of a call that is known before its body is read. */
export type Caller = Pick<Call, "keyDigest" | "params" | "header" | "address" | "facts">;

export const repeated: unique symbol = Symbol("repeated header");

export const jsonType = "application/json; charset=utf-8";

export type Answer = {
  status: number;
  headers?: Record<string, string>;
  /** JSON by default. */
  type?: string;
  /** Null for an answer without a body. */
  body: string | Uint8Array | null;
};

/** An answer that is sent while it is made. It is cancelled when the caller leaves. */
export type StreamedAnswer = Omit<Answer, "body"> & {
  type: string;
  stream: ReadableStream<Uint8Array>;
};
