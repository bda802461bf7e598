// One row of the service's surface.

import type { Answer, Call, Caller, Reader, StreamedAnswer } from "./call.ts";

/** The name under which a caller's bytes are counted, or the answer to an unknown caller. */
export type Admission = { holder: string } | { refused: Answer };

export type Route = {
  method: "GET" | "POST";
  path: string;
  access:
    | "api_key"
    | "mcp"
    | "review_link"
    | "dashboard"
    | "inbox"
    | "slack"
    | "this_machine"
    | "anyone";
  handle: (call: Call) => Answer | Promise<Answer | StreamedAnswer>;
  /** Below the limit of other routes. */
  bodyBytesMax?: number;
  /** Runs before a large body is read, so that no unknown caller makes us hold one. */
  admit?: (caller: Caller) => Promise<Admission>;
  /** The shape of an unexpected error on this route, if not the plain envelope. */
  onFault?: (answer: Answer, reader: Reader) => Answer;
};
