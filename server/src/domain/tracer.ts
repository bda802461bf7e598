// What the service tells of its work to those who trace it: which part took how long, and how it ended. Routes, names of
// statements, channels and outcomes only, never an id, an address or a value. Null wherever it is handed down means that
// nobody traces.

export type Tracer = {
  /** A call arrived. */
  call(call: TracedCall): Span;
  /** A worker begins an attempt to deliver, or a try of a message. */
  attempt(channel: string): Span;
};

export type TracedCall = {
  method: string;
  /** The pattern, never the path. Null if no route matched. */
  route: string | null;
  /** The caller's header of this name, as it came. */
  traceparent: string | undefined;
  /** The caller is a program of a customer: its trace goes on here. Anybody else's trace is only linked. */
  isAgent: boolean;
  /** The call that the service makes this call for. */
  within: Span | null;
};

/** A piece of work. What begins after its end isn't told. */
export type Span = {
  /** Null if this trace isn't recorded. */
  readonly traceId: string | null;
  /** It asks the database; `sharedBy` is how many calls share the statement. Null if that isn't told. */
  ask(statement: string, sharedBy?: number): Span | null;
  /** Once. */
  end(end: SpanEnd): void;
};

export type SpanEnd = {
  /** A word from a closed list: a status, an outcome, the code of an error. Never a message. */
  fault?: string | null;
  outcome?: string;
  /** The status of HTTP. */
  status?: number | null;
};
