// Which failures may pass by themselves.

import { ApiError } from "./api.ts";

/** A refused call stays refused. A call that didn't reach the service, or came too often, may work in a moment. */
export function isPassing(error: Error): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status === 0 || error.status >= 500 || error.code === "rate_limited";
}
