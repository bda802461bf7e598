// Makes routes of the table: it finds who is signed in, checks their rights, and answers. No handler reads a cookie or
// decides about rights itself.

import { hash } from "node:crypto";
import { currentHolder } from "../../../database/holder.ts";
import { networkOf } from "../../../domain/access/network-address.ts";
import { digestOfToken } from "../../../domain/access/sign-in.ts";
import {
  exportsBurstMax,
  exportsPerHourMax,
  formBytesMax,
  passkeyFormBytesMax,
  passkeysBegunPerHourMax,
  sessionCallsBurstMax,
  sessionCallsPerMinuteMax,
  signInCallsPerMinuteMax,
} from "../../../domain/limits.ts";
import { isRefusal, refuse } from "../../../domain/refusal.ts";
import { isAtLeast } from "../../../domain/workspace/role.ts";
import { noteVisit } from "../../../operations/people/sign-in.ts";
import * as sessions from "../../../storage/people/sessions.ts";
import type { FileDownload } from "../../../wire/dashboard-filters.ts";
import type { Answer, Call, StreamedAnswer } from "../../frame/call.ts";
import { compressed } from "../../frame/compression.ts";
import { dashboardFault, dashboardProblem, tooManyReads } from "../../frame/problems.ts";
import { RateLimiter } from "../../frame/rate-limiter.ts";
import type { Route } from "../../frame/route.ts";
import { inTurn } from "../../frame/turns.ts";
import { backToList } from "../exports/request-export.ts";
import { beginOidc, finishOidc } from "../oidc.ts";
import { dashboardHtml } from "../page.ts";
import { sessionTokenOf } from "../session-cookie.ts";
import type { DashboardCalls, DashboardRefusal, WithHeaders } from "../visit.ts";
import { type DashboardTable, dashboardTable, type Row } from "./table.ts";

const apiPath = "/app/api";
/** Forms that carry a browser's passkey answer. */
const passkeyForms: ReadonlySet<keyof DashboardTable> = new Set([
  "POST /sign-in/passkey/finish",
  "POST /me/passkeys/finish",
]);
/** Answers that hold a whole request, which may be megabytes. */
const heavyCalls: ReadonlySet<keyof DashboardTable> = new Set([
  "GET /workspaces/:workspaceId/requests/:requestId",
  "POST /workspaces/:workspaceId/requests/:requestId/cancel",
  "GET /workspaces/:workspaceId/deliveries/:deliveryId",
]);

const signInRate = { perSecond: signInCallsPerMinuteMax / 60, burst: signInCallsPerMinuteMax };
const sessionRate = { perSecond: sessionCallsPerMinuteMax / 60, burst: sessionCallsBurstMax };
const passkeyRate = { perSecond: passkeysBegunPerHourMax / 3_600, burst: passkeysBegunPerHourMax };
const exportRate = { perSecond: exportsPerHourMax / 3_600, burst: exportsBurstMax };
const exportCall = "GET /workspaces/:workspaceId/requests/export";

type Limiter = Pick<RateLimiter, "take">;

/** Limits the rate of calls: of strangers by network, before anything else; of signed-in people by session. */
type Limiters = { ofNetwork: Limiter; ofSession: Limiter; ofPerson: Limiter | null };

export function dashboardRoutes(calls: DashboardCalls): Route[] {
  const ofNetwork = new RateLimiter(signInRate);
  const ofSession = new RateLimiter(sessionRate);
  const rareCalls = limitRareCalls();
  const api = (Object.keys(dashboardTable) as (keyof DashboardTable)[]).map((name): Route => {
    const [method, path] = name.split(" ") as ["GET" | "POST", string];
    const row = dashboardTable[name] as Row<unknown>;
    const limiters = { ofNetwork, ofSession, ofPerson: rareCalls[name] ?? null };
    if (name === exportCall) return exportRoute(calls, row, limiters);
    return {
      method,
      path: `${apiPath}${path}`,
      access: "dashboard",
      bodyBytesMax: passkeyForms.has(name) ? passkeyFormBytesMax : formBytesMax,
      onFault: dashboardFault,
      handle: (call) =>
        heavyCalls.has(name)
          ? answerInTurn(calls, call, () => answer(calls, limiters, row, call))
          : answer(calls, limiters, row, call).then((told) => packed(call, told)),
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
    onFault: () => toSignInAgain(calls, "oidc"),
  } as const;
  // biome-ignore format: a table is read by its columns
  return [
    ...api,
    { ...company, path: "/app/sign-in/oidc", handle: (call) => refuseNetwork(calls, ofNetwork, call) === null ? beginOidc(calls, call) : toSignInAgain(calls, "too_many") },
    { ...company, path: "/app/sign-in/oidc/callback", handle: (call) => finishOidc(calls, call) },
    { ...page, path: "/app" },
    // The page decides what it shows there.
    { ...page, path: "/app/*" },
    { method: "GET", path: `${apiPath}/*`, access: "dashboard", handle: () => dashboardProblem(nothingHere()) },
    { method: "GET", path: "/", access: "anyone", handle: () => toDashboard(calls) },
  ];
}

/** The calls of signed-in people that have a lower rate limit than others. */
function limitRareCalls(): Partial<Record<keyof DashboardTable, Limiter>> {
  const exporting = new RateLimiter(exportRate);
  return {
    "POST /me/passkeys/begin": new RateLimiter(passkeyRate),
    [exportCall]: exporting,
    "GET /workspaces/:workspaceId/log/export": exporting,
    "GET /workspaces/:workspaceId/exportable": { take: (key, now) => exporting.look(key, now) },
  };
}

/** The browser itself opens this address, so a refusal must lead its reader to a page. */
function exportRoute(calls: DashboardCalls, row: Row<unknown>, limiters: Limiters): Route {
  return {
    method: "GET",
    path: `${apiPath}${exportCall.slice("GET ".length)}`,
    access: "dashboard",
    onFault: (told, reader) => backToList(calls, reader, dashboardFault(told)),
    handle: async (call) => {
      const told = await answer(calls, limiters, row, call);
      return "stream" in told ? told : compressed(call, backToList(calls, call, told));
    },
  };
}

/** By workspace, so that no other workspace waits; by network until a session has led to a workspace. */
async function answerInTurn(
  { heavyReads }: DashboardCalls,
  call: Call,
  work: () => Promise<Answer | StreamedAnswer>,
): Promise<Answer | StreamedAnswer> {
  const { signal } = call;
  const turn = { holder: `dashboard ${currentHolder()}`, signal };
  const told = await inTurn(heavyReads, turn, async () => packed(call, await work()));
  return told ?? dashboardFault(tooManyReads());
}

/** A stream leaves as it is made. */
async function packed(call: Call, told: Answer | StreamedAnswer): Promise<Answer | StreamedAnswer> {
  return "stream" in told ? told : compressed(call, told);
}

async function answer(
  calls: DashboardCalls,
  { ofNetwork, ofSession, ofPerson }: Limiters,
  row: Row<unknown>,
  call: Call,
): Promise<Answer | StreamedAnswer> {
  // No id holds a U+0000, and the database refuses it.
  if (Object.values(call.params).some((value) => value.includes("\0"))) {
    return dashboardProblem(nothingHere());
  }
  if (row.who === "anyone") {
    return refuseNetwork(calls, ofNetwork, call) ?? toAnswer(await row.handle(calls, call));
  }
  const token = sessionTokenOf(call, calls.origin.publicUrl);
  if (token === null) return dashboardProblem(signedOut());
  const tokenDigest = digestOfToken(token);
  // Checked before any query, because the limit protects the database.
  const waitSeconds = secondsToWait(ofSession, tokenDigest, calls);
  if (waitSeconds > 0) return tooMany(tooManyOfSession(waitSeconds), waitSeconds);
  const workspaceId = row.who === "person" ? null : (call.params.workspaceId ?? "");
  const visitor = await sessions.findVisitor(calls.db, tokenDigest, workspaceId);
  if (visitor === null) return dashboardProblem(signedOut());
  await noteVisit(calls.db, visitor);
  const { personId: id, email, sessionId, role } = visitor;
  const rareSeconds = ofPerson === null ? 0 : secondsToWait(ofPerson, hashOf(id), calls);
  if (rareSeconds > 0) return tooMany(tooManyOfPerson(rareSeconds), rareSeconds);
  const visit = { call, person: { id, email, sessionId } };
  if (row.who === "person") return toAnswer(await row.handle(calls, visit));
  // Another's workspace looks like one that doesn't exist.
  if (role === null || workspaceId === null) return dashboardProblem(unknownWorkspace());
  call.facts.workspaceId = workspaceId;
  if (!isAtLeast(role, row.who)) return dashboardProblem(notAllowed(row.who));
  return toAnswer(await row.handle(calls, { ...visit, workspaceId, role }));
}

function toAnswer(told: unknown): Answer | StreamedAnswer {
  if (isRefusal(told as DashboardRefusal | object))
    return dashboardProblem(told as DashboardRefusal);
  if (isFile(told)) {
    const headers = { "content-disposition": `attachment; filename="${told.name}"` };
    return { status: 200, headers, type: told.type, stream: told.file };
  }
  if (isWithHeaders(told)) {
    return { status: 200, headers: told.headers, body: JSON.stringify(told.told) };
  }
  return { status: 200, body: JSON.stringify(told) };
}

function isFile(told: unknown): told is FileDownload {
  return typeof told === "object" && told !== null && "file" in told;
}

function isWithHeaders(told: unknown): told is WithHeaders<unknown> {
  return typeof told === "object" && told !== null && "told" in told && "headers" in told;
}

function refuseNetwork(calls: DashboardCalls, limiter: Limiter, call: Call): Answer | null {
  const seconds = secondsToWait(limiter, hashOf(networkOf(call.address ?? "")), calls);
  return seconds === 0 ? null : tooMany(tooManyOfNetwork(seconds), seconds);
}

/** Seconds to wait; 0 when the call may be made now. */
function secondsToWait(limiter: Limiter, key: Buffer, { clock }: DashboardCalls): number {
  const { allowed, retryAfterMs } = limiter.take(key, clock());
  return allowed ? 0 : Math.max(1, Math.ceil(retryAfterMs / 1_000));
}

function hashOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

function nothingHere(): DashboardRefusal {
  return refuse("not_found", "There is nothing at this address. Load the page again.");
}

/** People on their way to or from their company's sign-in see a page of ours, not JSON. */
function toSignInAgain({ origin }: DashboardCalls, problem: "oidc" | "too_many"): Answer {
  const location = `${origin.publicUrl}/app/sign-in?problem=${problem}`;
  return { status: 302, headers: { location }, body: null };
}

function toDashboard({ origin }: DashboardCalls): Answer {
  return { status: 302, headers: { location: `${origin.publicUrl}/app` }, body: null };
}

function tooMany(message: string, seconds: number): Answer {
  const problem = dashboardProblem(refuse("rate_limited", message));
  return { ...problem, headers: { "retry-after": String(seconds) } };
}

function tooManyOfNetwork(seconds: number): string {
  return `Too many tries to sign in from your network. Wait ${inWords(seconds)}, then try again.`;
}

function tooManyOfSession(seconds: number): string {
  return `This browser asks for more than it may, perhaps in many tabs at once. Wait ${inWords(seconds)}, then try again.`;
}

function tooManyOfPerson(seconds: number): string {
  return `You have done this too often within an hour. Wait ${inWords(seconds)}, then try again.`;
}

function inWords(seconds: number): string {
  return seconds === 1 ? "a second" : `${seconds} seconds`;
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
