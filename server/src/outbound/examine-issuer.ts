// Checks that a company's identity provider answers and is the one that was set up, for operators who must find out why
// nobody can sign in. It signs nobody in and sends no secret.

import { ClientError } from "openid-client";
import type { OidcSettings } from "../domain/access/openid.ts";
import { openIdTimeoutMs } from "../domain/limits.ts";
import { discover } from "./openid.ts";

export type IssuerAnswer =
  | { outcome: "ok" }
  /** No connection, or none that can be trusted. The code is the system's, such as ENOTFOUND. */
  | { outcome: "unreachable"; code: string | null }
  | { outcome: "timed_out" }
  /** The answer there is no OpenID Connect document. Null when its status was fine. */
  | { outcome: "no_document"; status: number | null }
  | { outcome: "other_issuer"; issuer: string }
  | { outcome: "incomplete"; missing: readonly string[] };

const needed = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;

export async function examineIssuer(
  settings: OidcSettings,
  { timeoutMs = openIdTimeoutMs }: { timeoutMs?: number } = {},
): Promise<IssuerAnswer> {
  try {
    const described = (await discover(settings, timeoutMs)).serverMetadata();
    const missing = needed.filter((name) => typeof described[name] !== "string");
    return missing.length === 0 ? { outcome: "ok" } : { outcome: "incomplete", missing };
  } catch (error) {
    return answerOf(error);
  }
}

function answerOf(error: unknown): IssuerAnswer {
  const { code, cause } = partsOf(error);
  if (code === "OAUTH_TIMEOUT") return { outcome: "timed_out" };
  if (code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") {
    return { outcome: "other_issuer", issuer: issuerIn(cause) };
  }
  if (error instanceof ClientError || code === "ERR_INVALID_URL") {
    const hasOtherStatus = cause instanceof Response && cause.status !== 200;
    return { outcome: "no_document", status: hasOtherStatus ? cause.status : null };
  }
  return { outcome: "unreachable", code: partsOf(cause).code };
}

function partsOf(error: unknown): { code: string | null; cause: unknown } {
  if (!(error instanceof Error)) return { code: null, cause: null };
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  return { code, cause: error.cause };
}

function issuerIn(cause: unknown): string {
  const body = typeof cause === "object" && cause !== null && "body" in cause ? cause.body : null;
  const issuer = typeof body === "object" && body !== null && "issuer" in body ? body.issuer : null;
  return typeof issuer === "string" ? issuer : "";
}
