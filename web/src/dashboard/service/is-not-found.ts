// Whether there is no such thing, or none that this person may see: the two are told alike.

import { ApiError } from "./api.ts";

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === "not_found";
}
