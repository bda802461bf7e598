// Signing in with a company's identity provider, by OpenID Connect: the interface to it, which issuers may be set up,
// and whose address counts. outbound/openid.ts does the talking.

import { flawOfEmailAddress } from "../workspace/email-address.ts";
import { isLoopbackUrl } from "./public-url.ts";

export type OidcSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Its name for people: the sign-in page says "Sign in with …". */
  name: string;
  /** Whether an address counts if the provider doesn't say that it is verified. */
  isEmailTrusted: boolean;
};

/** Identifies one sign-in, from the redirect to the provider until it comes back. */
export type OidcFlow = {
  /** The address at this service that the provider sends people back to. */
  redirectUri: string;
  state: string;
  nonce: string;
  codeVerifier: string;
};

export type OidcFailure =
  /** No OIDC_… is set. */
  | "not_set_up"
  /** The provider doesn't answer in time, or its answer isn't OpenID Connect. */
  | "unreachable"
  /** The provider sent the person back with an error, such as access_denied. */
  | "denied"
  /** The provider refuses the code or our credentials. */
  | "refused"
  /** Signature, issuer, audience, nonce, state or time is wrong. */
  | "not_valid"
  /** The callback is not one that this browser waits for: another browser's, used already, too old, or made up. */
  | "unknown_flow"
  | "no_email"
  | "email_not_verified"
  /** The address belongs to no member of any workspace, and nobody ever asked it. */
  | "no_member";

/** A failure, with the provider's or the library's code if there is one: never a personal value. */
export type OidcFailed = { failure: OidcFailure; code: string | null };

/** A provider's claims about a person. Nothing of them is trusted before it is checked. */
export type OidcClaims = { email: unknown; email_verified: unknown };

/** A company's identity provider, as the rest of the service sees it. */
export type OidcClient = {
  readonly name: string;
  readonly isEmailTrusted: boolean;
  /** Where to send the browser. */
  begin(flow: OidcFlow): Promise<{ url: string } | OidcFailed>;
  /** Takes the parameters with which the browser came back. */
  finish(flow: OidcFlow, query: URLSearchParams): Promise<{ claims: OidcClaims } | OidcFailed>;
};

export function oidcFailed(failure: OidcFailure, code: string | null = null): OidcFailed {
  return { failure, code };
}

/**
 * The address that a provider vouches for. Without `email_verified: true` it may be one that somebody just typed into
 * their profile, and would open another person's workspaces. Directories such as Entra ID say neither true nor false;
 * only their operator knows whether people can choose their address there. A false is never overruled.
 */
export function emailOfClaims(
  { email, email_verified: isVerified }: OidcClaims,
  { isEmailTrusted }: Pick<OidcSettings, "isEmailTrusted">,
): { email: string } | OidcFailed {
  if (typeof email !== "string" || flawOfEmailAddress(email) !== null) {
    return oidcFailed("no_email");
  }
  const counts = isVerified === true || (isVerified === undefined && isEmailTrusted);
  return counts ? { email } : oidcFailed("email_not_verified");
}

/** Joins the claims of the signed token with the provider's answer when asked again. */
export function joinClaims(token: OidcClaims, asked: OidcClaims): OidcClaims {
  // The source that names an address also verifies it; a "no" counts from either.
  const { email, email_verified } = asked.email === undefined ? token : asked;
  const isDenied = [token, asked].some((each) => each.email_verified === false);
  return { email, email_verified: isDenied ? false : email_verified };
}

/** Says what is wrong with the address of an issuer, or null when it is fine. */
export function flawOfOidcIssuer(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "must be the address of an issuer, such as https://login.example.com";
  }
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    return "must have no user name, password, ? or #";
  }
  // At such an address, the issuer would be any that the document there names.
  if (url.pathname.includes("/.well-known/")) return "must end before /.well-known/";
  // Anybody can have a directory there, with any address in it.
  if (isEverybodysDirectory(url)) {
    return "must name your own tenant: https://login.microsoftonline.com/TENANT_ID/v2.0";
  }
  return url.protocol === "https:" || isLoopbackUrl(text)
    ? null
    : "must begin with https://, unless it is on this machine";
}

function isEverybodysDirectory({ hostname, pathname }: URL): boolean {
  return (
    hostname === "login.microsoftonline.com" &&
    /^\/(?:common|organizations|consumers)(?:\/|$)/i.test(pathname)
  );
}
