// Turns the Authorization header into the digest of an API key. The statement that serves the call checks whether the
// key is known, so that a revoked key is refused by the very next one.

import { digestOfApiKey, isWellFormedApiKey } from "../../domain/access/api-key.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import { type Call, repeated } from "./call.ts";

const bearerPattern = /^Bearer +([^\s]+)$/i;

export function authenticate(header: Call["header"]): Buffer | Refusal {
  const authorization = header("authorization");
  if (authorization === null) {
    return refuse(
      "unauthorized",
      "This call carries no API key. Send one as Authorization: Bearer <API key>.",
    );
  }
  const key = authorization === repeated ? undefined : bearerPattern.exec(authorization)?.[1];
  if (key === undefined) {
    return refuse(
      "unauthorized",
      "The Authorization header is malformed. Send it once, as Authorization: Bearer <API key>.",
    );
  }
  if (!isWellFormedApiKey(key)) {
    return refuse(
      "unauthorized",
      "This is not a Countersign API key: one begins with cs_ and has 52 characters. It may be mistyped or cut off.",
    );
  }
  return digestOfApiKey(key);
}
