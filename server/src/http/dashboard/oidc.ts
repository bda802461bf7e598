// Signs in with a company's identity provider: the way there and the way back. A browser navigates to these two, the
// page doesn't call them. Every failure therefore ends on the sign-in page, which is told no reason.

import { randomBytes } from "node:crypto";
import { emailOfClaims, type OidcFailed, oidcFailed } from "../../domain/access/openid.ts";
import { signInChallengeMinutes } from "../../domain/limits.ts";
import { startSession } from "../../operations/people/sign-in.ts";
import { beginOidcFlow, takeOidcFlow } from "../../operations/people/sign-in-challenges.ts";
import type { Answer, Call } from "../frame/call.ts";
import { cookieOf, cookieText } from "./cookie.ts";
import { sessionCookie } from "./session-cookie.ts";
import { browserOf } from "./sign-in.ts";
import type { DashboardCalls } from "./visit.ts";

export type OidcCalls = Pick<DashboardCalls, "db" | "origin" | "oidc">;

const browserTokenBytes = 32;
const browserTokenForm = /^[\w-]{43}$/;
const stateForm = /^[\w-]{1,100}$/;

export async function beginOidc({ db, origin, oidc }: OidcCalls, call: Call): Promise<Answer> {
  const { publicUrl } = origin;
  if (oidc === null) return failed(publicUrl, call, oidcFailed("not_set_up"));
  // A browser keeps the one it has: signing in from two of its tabs at once then works in both.
  const browserToken =
    browserTokenOf(publicUrl, call) ?? randomBytes(browserTokenBytes).toString("base64url");
  const begun = await beginOidcFlow(db, browserToken);
  const way = await oidc.begin({ ...begun, redirectUri: redirectUriOf(publicUrl) });
  if ("failure" in way) return failed(publicUrl, call, way);
  const cookie = cookieText(publicUrl, {
    name: browserCookie,
    value: browserToken,
    maxAgeSeconds: signInChallengeMinutes * 60,
  });
  return redirect(way.url, { "set-cookie": cookie });
}

export async function finishOidc(calls: OidcCalls, call: Call): Promise<Answer> {
  const { publicUrl } = calls.origin;
  const proved = await provenEmail(calls, call);
  if ("failure" in proved) return failed(publicUrl, call, proved);
  const start = { email: proved.email, method: "oidc", ...browserOf(calls, call) } as const;
  const session = await startSession(calls.db, start);
  if (session === null) return failed(publicUrl, call, oidcFailed("no_member"));
  return redirect(`${publicUrl}/app`, { "set-cookie": sessionCookie(publicUrl, session.token) });
}

async function provenEmail(
  { db, origin, oidc }: OidcCalls,
  call: Call,
): Promise<{ email: string } | OidcFailed> {
  if (oidc === null) return oidcFailed("not_set_up");
  const state = call.query.get("state") ?? "";
  const browserToken = browserTokenOf(origin.publicUrl, call);
  if (browserToken === null || !stateForm.test(state)) return oidcFailed("unknown_flow");
  const flow = await takeOidcFlow(db, { state, browserToken });
  if (flow === null) return oidcFailed("unknown_flow");
  const redirectUri = redirectUriOf(origin.publicUrl);
  const answered = await oidc.finish({ ...flow, redirectUri }, call.query);
  return "failure" in answered ? answered : emailOfClaims(answered.claims, oidc);
}

/** Operators enter this address at the provider, to the letter. */
function redirectUriOf(publicUrl: string): string {
  return `${publicUrl}/app/sign-in/oidc/callback`;
}

/** Binds a sign-in to the browser that began it. Otherwise an attacker could sign somebody in as another person. */
const browserCookie = "countersign-oidc";

function browserTokenOf(publicUrl: string, call: Call): string | null {
  const token = cookieOf(call, publicUrl, browserCookie);
  return token !== null && browserTokenForm.test(token) ? token : null;
}

/** Only the log gets the reason, in words of our own list. */
function failed(publicUrl: string, call: Call, { failure, code }: OidcFailed): Answer {
  call.facts.signInFailure = code === null ? `oidc ${failure}` : `oidc ${failure} ${code}`;
  return redirect(`${publicUrl}/app/sign-in?problem=oidc`);
}

function redirect(location: string, headers: Record<string, string> = {}): Answer {
  return { status: 302, headers: { location, ...headers }, body: null };
}
