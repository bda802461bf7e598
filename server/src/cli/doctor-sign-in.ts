// The sign-in checks of `countersign doctor`: whether the company's identity provider answers, and whether it is the
// one that OIDC_ISSUER names.

import type { OidcSettings } from "../domain/access/openid.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import type { IssuerAnswer } from "../outbound/examine-issuer.ts";
import { type Finding, failed, ok } from "./finding.ts";

const check = "company sign-in";
const issuerTimeoutMs = 8_000;

export async function examineSignIn(oidc: OidcSettings | null): Promise<Finding[]> {
  if (oidc === null) return [];
  // Loaded on demand: no other command needs the libraries behind it.
  const { examineIssuer } = await import("../outbound/examine-issuer.ts");
  const answer = await examineIssuer(oidc, { timeoutMs: issuerTimeoutMs });
  const flaw = flawOf(answer, oidc);
  return [
    flaw === null
      ? ok(check, `${oidc.issuer} answers, and is the issuer that it should be`)
      : failed(
          check,
          `${flaw} Until then nobody signs in with it; codes by mail and passkeys work.`,
        ),
  ];
}

function flawOf(answer: IssuerAnswer, { issuer }: OidcSettings): string | null {
  const document = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  switch (answer.outcome) {
    case "ok":
      return null;
    case "unreachable": {
      const why = answer.code === null ? "" : ` (${answer.code})`;
      return `${document} cannot be reached from here${why}. Check OIDC_ISSUER and whether a firewall is in between; a private authority goes into NODE_EXTRA_CA_CERTS.`;
    }
    case "timed_out":
      return `${document} did not answer within ${issuerTimeoutMs / 1_000} seconds. Check OIDC_ISSUER and whether a firewall is in between.`;
    case "no_document": {
      const what = answer.status === null ? "something else" : `status ${answer.status}`;
      return `${document} answers with ${what} instead of a document of OpenID Connect. Check OIDC_ISSUER: it must be the part before /.well-known/.`;
    }
    case "other_issuer":
      return `the document at ${document} is of another issuer, ${toTerminalText(answer.issuer)}. Set OIDC_ISSUER to exactly what your provider calls "issuer", slashes at the end included.`;
    case "incomplete":
      return `${document} lacks ${answer.missing.join(", ")}. Check OIDC_ISSUER: this provider cannot sign people in by OpenID Connect.`;
    default:
      return answer satisfies never;
  }
}
