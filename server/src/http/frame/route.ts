// One row of the service's surface.

import type { Answer, Call, Caller, StreamedAnswer } from "./call.ts";

/** The name under which a caller's bytes are counted, or the answer to somebody unknown. */
export type Admission = { holder: string } | { refused: Answer };

export type Route = {
  method: "GET" | "POST";
  path: string;
  access: "api_key" | "review_link" | "dashboard" | "this_machine" | "anyone";
  handle: (call: Call) => Answer | Promise<Answer | StreamedAnswer>;
  /** Less than what a request may have elsewhere. */
  bodyBytesMax?: number;
  /** Asked before a large body is read, so that nobody unknown makes us hold one. */
  admit?: (caller: Caller) => Promise<Admission>;
  /** How an error that is nobody's choice looks here, where the plain envelope would not do. */
  onFault?: (answer: Answer) => Answer;
};
