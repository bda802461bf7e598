// The refusal of a call with an unknown or revoked API key. It doesn't tell which.

import { type Refusal, refuse } from "../../domain/refusal.ts";

export function unknownKey(): Refusal {
  return refuse(
    "unauthorized",
    "This API key is not known or was revoked. Send a valid one as Authorization: Bearer <API key>.",
  );
}
