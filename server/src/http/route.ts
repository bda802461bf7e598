// One row of the service's surface.

import type { Answer, Call, StreamedAnswer } from "./call.ts";

export type Route = {
  method: "GET" | "POST";
  path: string;
  access: "api_key" | "review_link" | "dashboard" | "this_machine" | "anyone";
  handle: (call: Call) => Answer | Promise<Answer | StreamedAnswer>;
  /** Less than what a request may have elsewhere. */
  bodyBytesMax?: number;
  /** How an error that is nobody's choice looks here, where the plain envelope would not do. */
  onFault?: (answer: Answer) => Answer;
};
