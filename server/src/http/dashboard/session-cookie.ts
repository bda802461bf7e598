// The cookie that keeps somebody signed in: the token of a session.

import { sessionDaysMax } from "../../domain/limits.ts";
import type { Call } from "../frame/call.ts";
import { cookieOf, cookieText } from "./cookie.ts";

const name = "countersign";
const secondsPerDay = 86_400;

export function sessionCookie(publicUrl: string, token: string): string {
  return cookieText(publicUrl, {
    name,
    value: token,
    maxAgeSeconds: sessionDaysMax * secondsPerDay,
  });
}

export function endedSessionCookie(publicUrl: string): string {
  return cookieText(publicUrl, { name, value: "", maxAgeSeconds: 0 });
}

/** The session token of the call; null when none came, or more than one. */
export function sessionTokenOf(call: Pick<Call, "header">, publicUrl: string): string | null {
  return cookieOf(call, publicUrl, name);
}
