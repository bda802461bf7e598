// Turns the Authorization header into the digest of an API key. The statement that serves the call checks whether the
// key is known, so that a revoked key is refused by the very next one.

import { digestOfApiKey, isWellFormedApiKey } from "../../domain/access/api-key.ts";
import { isWellFormedAccessToken } from "../../domain/access/oauth.ts";
import { digestOfToken } from "../../domain/access/sign-in.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import { type Call, repeated } from "./call.ts";

const bearerPattern = /^Bearer +([^\s]+)$/i;

/** For /mcp: the digest of a key, or of an access token of a connected client. */
export function authenticateMcp(header: Call["header"]): Buffer | Refusal {
  const token = accessTokenIn(header);
  return token === null ? authenticate(header) : digestOfToken(token);
}

/** Null if the caller sent something else. */
export function accessTokenIn(header: Call["header"]): string | null {
  const authorization = header("authorization");
  const token = typeof authorization === "string" ? bearerPattern.exec(authorization)?.[1] : null;
  return token && isWellFormedAccessToken(token) ? token : null;
}

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
