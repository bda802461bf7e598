// The lists of the inbox: what waits for the person in all workspaces, what is over, and their place in one request.

import { hash } from "node:crypto";
import { approvalIdPattern } from "../../domain/approval/call-parameters.ts";
import * as inbox from "../../storage/approvals/inbox.ts";
import type { InboxList, InboxPast, InboxPastRow, InboxRow } from "../../wire/inbox-contract.ts";
import type { Answer } from "../frame/call.ts";
import { compressed } from "../frame/compression.ts";
import { reviewProblem } from "../frame/problems.ts";
import { type InboxCalls, reviewerIdOf, type Visit } from "./visit.ts";

type ListCalls = Pick<InboxCalls, "db">;

export async function list({ db }: ListCalls, { call, person }: Visit): Promise<Answer> {
  const { waiting, isMore, now } = await inbox.listWaiting(db, person.email);
  const told: InboxList = {
    email: person.email,
    waiting: waiting.map((place) => ({ ...rowOf(place), progress: place.progress })),
    isMore,
    now: now.toISOString(),
  };
  return compressed(call, { status: 200, body: JSON.stringify(told) });
}

export async function past({ db }: ListCalls, { call, person }: Visit): Promise<Answer> {
  const before = call.query.get("before");
  const found = await inbox.listPast(
    db,
    person.email,
    before === null ? null : reviewerIdOf(before),
  );
  const told: InboxPast = {
    past: found.past.map((place) => ({ ...rowOf(place), outcome: outcomeOf(place, person.email) })),
    next: found.next,
  };
  return compressed(call, { status: 200, body: JSON.stringify(told) });
}

/** Links in messages name the request, and carry no right. */
export async function find({ db }: ListCalls, { call, person }: Visit): Promise<Answer> {
  const { requestId = "" } = call.params;
  const isId = approvalIdPattern.test(requestId);
  const id = isId ? await inbox.findPlace(db, person.email, requestId) : null;
  if (id !== null) return { status: 200, body: JSON.stringify({ id }) };
  return reviewProblem("not_found", "You are not asked about this request, or no longer.");
}

/** The same for all requests of one agent. It tells nothing of the key. */
export function agentOf({
  workspaceId,
  keyId,
  agentName,
}: Pick<inbox.InboxPlace, "workspaceId" | "keyId" | "agentName">): string {
  return hash("sha256", JSON.stringify([workspaceId, keyId, agentName]), "base64url").slice(0, 22);
}

function rowOf(place: inbox.InboxPlace): Omit<InboxRow, "progress"> {
  return {
    id: place.reviewerId,
    requestId: place.approvalId,
    workspaceName: place.workspaceName,
    summary: place.summary,
    agentName: place.agentName,
    agent: agentOf(place),
    createdAt: place.createdAt.toISOString(),
    expiresAt: place.expiresAt.toISOString(),
    groupName: place.groupName,
    for: place.forEmail,
  };
}

function outcomeOf(
  { status, endedAt, byEmail }: inbox.PastPlace,
  email: string,
): InboxPastRow["outcome"] {
  if (status === "PENDING" || endedAt === null) return null;
  const isYours = byEmail !== null && byEmail.toLowerCase() === email.toLowerCase();
  return { status, at: endedAt.toISOString(), byEmail, isYours };
}
