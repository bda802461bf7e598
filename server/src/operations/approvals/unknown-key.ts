// The refusal of a call whose API key is unknown or revoked. Which of the two it is, is not told.

import { type Refusal, refuse } from "../../domain/refusal.ts";

export function unknownKey(): Refusal {
  return refuse(
    "unauthorized",
    "This API key is not known or was revoked. Send a valid one as Authorization: Bearer <API key>.",
  );
}
