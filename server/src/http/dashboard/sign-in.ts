// The calls that sign people in and out.

import { z } from "zod";
import { digestOfToken, normaliseSignInCode } from "../../domain/access/sign-in.ts";
import { isRefusal, refuse } from "../../domain/refusal.ts";
import { flawOfEmailAddress } from "../../domain/workspace/email-address.ts";
import {
  type Browser,
  endSession,
  mailSignInCode,
  type StartedSession,
  signInByCode,
  signInByLink,
} from "../../operations/people/sign-in.ts";
import * as sessions from "../../storage/people/sessions.ts";
import type { Done, Me } from "../../wire/dashboard-contract.ts";
import type { SignInOptions } from "../../wire/dashboard-sign-in.ts";
import { type Call, repeated } from "../frame/call.ts";
import { describeMe } from "./account.ts";
import { endedSessionCookie, sessionCookie, sessionTokenOf } from "./session-cookie.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  readForm,
  type Visit,
  type WithHeaders,
} from "./visit.ts";

const email = z
  .string("must be an e-mail address")
  .transform((text) => text.trim())
  .superRefine((text, context) => {
    const flaw = flawOfEmailAddress(text);
    if (flaw !== null) context.addIssue({ code: "custom", message: flaw });
  });

const codeForm = z.object({ email });
const verifyForm = z.object({
  email,
  code: z.string("must be the six digits of the mail").max(100),
});
const linkForm = z.object({ token: z.string().max(200) });

type Answered<Value> = Promise<WithHeaders<Value> | DashboardRefusal>;

export async function options({ isMailKept, oidc }: DashboardCalls): Answered<SignInOptions> {
  return { told: { oidcName: oidc?.name ?? null, isMailKept }, headers: {} };
}

/** Answers alike and at once for every address, so that nobody learns who is a member. */
export async function mailCode(
  { db, keyring, onDue, inBackground }: DashboardCalls,
  call: Call,
): Answered<Done> {
  const form = readForm(call, codeForm);
  if (isRefusal(form)) return form;
  // Not awaited: the time it takes would tell a member from a stranger.
  inBackground(async () => {
    if (await mailSignInCode(db, keyring, form.email)) onDue();
  });
  return { told: { done: true }, headers: {} };
}

export async function verifyCode(calls: DashboardCalls, call: Call): Answered<Me> {
  const form = readForm(call, verifyForm);
  if (isRefusal(form)) return form;
  const code = normaliseSignInCode(form.code);
  if (code === null) {
    const message = "code: must be the six digits of the mail";
    return { ...refuse("validation_error", message), field: "code" };
  }
  const input = { email: form.email, code, browser: browserOf(calls, call) };
  const session = await signInByCode(calls.db, calls.keyring, input);
  if (session === null) {
    const message =
      "This code does not sign you in: it is mistyped, older than ten minutes, replaced by a newer one, or was tried too often. Look for the newest mail, or ask for a new code.";
    return { ...refuse("sign_in_failed", message), field: "code" };
  }
  return signedIn(calls, session);
}

export async function useLink(calls: DashboardCalls, call: Call): Answered<Me> {
  const form = readForm(call, linkForm);
  if (isRefusal(form)) return form;
  const session = await signInByLink(calls.db, {
    token: form.token,
    browser: browserOf(calls, call),
  });
  if (session === null) {
    return refuse(
      "sign_in_failed",
      "This link was used already, or is too old. Sign in with your address, or have a new link made: countersign sign-in-link --email YOUR_ADDRESS",
    );
  }
  return signedIn(calls, session);
}

export async function signOut(
  { db, origin }: DashboardCalls,
  { person }: Visit,
): Promise<WithHeaders<Done>> {
  await endSession(db, { personId: person.id, sessionId: person.sessionId });
  return { told: { done: true }, headers: { "set-cookie": endedSessionCookie(origin.publicUrl) } };
}

/** The answer that begins a session. */
export async function signedIn(
  calls: DashboardCalls,
  { token }: Pick<StartedSession, "token">,
): Promise<WithHeaders<Me>> {
  const visitor = await sessions.findVisitor(calls.db, digestOfToken(token), null);
  if (visitor === null) throw new Error("a session that has just begun is not there");
  const { personId, email: address, sessionId } = visitor;
  const told = await describeMe(calls.db, { id: personId, email: address, sessionId });
  return { told, headers: { "set-cookie": sessionCookie(calls.origin.publicUrl, token) } };
}

/** How the owner will recognise the session, and which session the browser had before. */
export function browserOf({ origin }: Pick<DashboardCalls, "origin">, call: Call): Browser {
  const userAgent = call.header("user-agent");
  const token = sessionTokenOf(call, origin.publicUrl);
  return {
    userAgent: userAgent === repeated ? null : userAgent,
    address: call.address,
    tokenDigest: token === null ? null : digestOfToken(token),
  };
}
