// Makes routes of the table: who is signed in, whether they may, what they are told. No handler looks at a cookie or
// decides about rights itself.

import { hash } from "node:crypto";
import { signInCallsPerMinuteMax } from "../../domain/limits.ts";
import { networkOf } from "../../domain/network-address.ts";
import { isRefusal, refuse } from "../../domain/refusal.ts";
import { isAtLeast } from "../../domain/role.ts";
import { digestOfToken } from "../../domain/sign-in.ts";
import { noteVisit } from "../../operations/sign-in.ts";
import * as sessions from "../../storage/sessions.ts";
import type { Answer, Call } from "../call.ts";
import { compressed } from "../compression.ts";
import { dashboardFault, dashboardProblem } from "../problems.ts";
import { RateLimiter } from "../rate-limiter.ts";
import type { Route } from "../route.ts";
import { beginOidc, finishOidc } from "./oidc.ts";
import { dashboardHtml } from "./page.ts";
import { sessionTokenOf } from "./session-cookie.ts";
import { type DashboardTable, dashboardTable, type Row } from "./table.ts";
import type { DashboardCalls, DashboardRefusal, WithHeaders } from "./visit.ts";

const apiPath = "/app/api";
/** No form is larger than this. */
const formBytesMax = 256 * 1024;
const signInRate = { perSecond: signInCallsPerMinuteMax / 60, burst: signInCallsPerMinuteMax };

export function dashboardRoutes(calls: DashboardCalls): Route[] {
  const limiter = new RateLimiter(signInRate);
  const api = (Object.keys(dashboardTable) as (keyof DashboardTable)[]).map((name): Route => {
    const [method, path] = name.split(" ") as ["GET" | "POST", string];
    const row = dashboardTable[name] as Row<unknown>;
    return {
      method,
      path: `${apiPath}${path}`,
      access: "dashboard",
      bodyBytesMax: formBytesMax,
      onFault: dashboardFault,
      handle: async (call) => compressed(call, await answer(calls, limiter, row, call)),
    };
  });
  const page = {
    method: "GET",
    access: "dashboard",
    handle: (call: Call) => compressed(call, dashboardHtml(calls)),
  } as const;
  const company = {
    method: "GET",
    access: "dashboard",
    onFault: () => toSignInAgain(calls),
  } as const;
  // biome-ignore format: a table is read by its columns
  return [
    ...api,
    { ...company, path: "/app/sign-in/oidc", handle: (call) => refuseTooMany(limiter, call) ?? beginOidc(calls, call) },
    { ...company, path: "/app/sign-in/oidc/callback", handle: (call) => finishOidc(calls, call) },
    { ...page, path: "/app" },
    // What the page shows there is its own matter.
    { ...page, path: "/app/*" },
    { method: "GET", path: `${apiPath}/*`, access: "dashboard", handle: () => dashboardProblem(nothingHere()) },
    { method: "GET", path: "/", access: "anyone", handle: () => toDashboard(calls) },
  ];
}

async function answer(
  calls: DashboardCalls,
  limiter: RateLimiter,
  row: Row<unknown>,
  call: Call,
): Promise<Answer> {
  // No id holds one, and the database takes none.
  if (Object.values(call.params).some((value) => value.includes("\0"))) {
    return dashboardProblem(nothingHere());
  }
  if (row.who === "anyone") {
    return refuseTooMany(limiter, call) ?? toAnswer(await row.handle(calls, call));
  }
  const token = sessionTokenOf(call, calls.origin.publicUrl);
  const workspaceId = row.who === "person" ? null : (call.params.workspaceId ?? "");
  const visitor =
    token === null ? null : await sessions.findVisitor(calls.db, digestOfToken(token), workspaceId);
  if (visitor === null) return dashboardProblem(signedOut());
  await noteVisit(calls.db, visitor);
  const { personId: id, email, sessionId, role } = visitor;
  const visit = { call, person: { id, email, sessionId } };
  if (row.who === "person") return toAnswer(await row.handle(calls, visit));
  // A workspace that somebody does not belong to looks like one that is not there.
  if (role === null || workspaceId === null) return dashboardProblem(unknownWorkspace());
  call.facts.workspaceId = workspaceId;
  if (!isAtLeast(role, row.who)) return dashboardProblem(notAllowed(row.who));
  return toAnswer(await row.handle(calls, { ...visit, workspaceId, role }));
}

function toAnswer(told: unknown): Answer {
  if (isRefusal(told as DashboardRefusal | object))
    return dashboardProblem(told as DashboardRefusal);
  if (isWithHeaders(told)) {
    return { status: 200, headers: told.headers, body: JSON.stringify(told.told) };
  }
  return { status: 200, body: JSON.stringify(told) };
}

function isWithHeaders(told: unknown): told is WithHeaders<unknown> {
  return typeof told === "object" && told !== null && "told" in told && "headers" in told;
}

function refuseTooMany(limiter: RateLimiter, call: Call): Answer | null {
  const rate = limiter.take(
    hash("sha256", networkOf(call.address ?? ""), "buffer"),
    performance.now(),
  );
  return rate.allowed ? null : tooMany(Math.ceil(rate.retryAfterMs / 1_000));
}

function nothingHere(): DashboardRefusal {
  return refuse("not_found", "There is nothing at this address. Load the page again.");
}

/** Somebody who comes back from their company's sign-in is told in our page, not in JSON. */
function toSignInAgain({ origin }: DashboardCalls): Answer {
  const location = `${origin.publicUrl}/app/sign-in?problem=oidc`;
  return { status: 302, headers: { location }, body: null };
}

function toDashboard({ origin }: DashboardCalls): Answer {
  return { status: 302, headers: { location: `${origin.publicUrl}/app` }, body: null };
}

function tooMany(seconds: number): Answer {
  const refusal = refuse(
    "rate_limited",
    `Too many tries to sign in from your network. Wait ${seconds} seconds, then try again.`,
  );
  return { ...dashboardProblem(refusal), headers: { "retry-after": String(Math.max(1, seconds)) } };
}

function signedOut(): DashboardRefusal {
  return refuse("signed_out", "You are not signed in, or your session has ended. Sign in again.");
}

function unknownWorkspace(): DashboardRefusal {
  return refuse("not_found", "There is no such workspace, or you are not a member of it.");
}

function notAllowed(needed: "owner" | "admin" | "viewer"): DashboardRefusal {
  const who = needed === "owner" ? "an owner" : "an admin or owner";
  return refuse("forbidden", `Only ${who} of this workspace may do this. Ask one of them.`);
}
