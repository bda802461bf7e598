// Asks a person whether an MCP client may be connected. The address of the page is a stranger's, so it is read anew with
// each call, and the answer goes only where the client was registered.

import { z } from "zod";
import { readQuestion } from "../../domain/access/oauth-question.ts";
import { isHere, redirectWith } from "../../domain/access/redirect-uri.ts";
import { isRefusal, refuse } from "../../domain/refusal.ts";
import { allowClient } from "../../operations/workspaces/connect-client.ts";
import type { AskedConnection } from "../../wire/dashboard-keys.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  type MemberVisit,
  readForm,
  type Visit,
} from "./visit.ts";

export function asked(calls: DashboardCalls, { call }: Visit): AskedConnection | DashboardRefusal {
  const { publicUrl } = calls.origin;
  const read = readQuestion({ publicUrl, keyring: calls.keyring }, call.query);
  if (read.kind === "doubtful") return refuse("validation_error", read.message);
  if (read.kind === "told") return read;
  const { client, redirectUri, state } = read.question;
  return {
    kind: "question",
    clientName: client.name,
    redirectUri,
    isHere: isHere(redirectUri),
    refuseTo: redirectWith(redirectUri, { error: "access_denied", state, iss: publicUrl }),
  };
}

const allowed = z.object({
  asked: z.string().max(8_000),
  // A page that was open when its bundle changed doesn't say it.
  as: z.string().optional(),
});

export async function allow(
  { db, keyring, origin: { publicUrl } }: DashboardCalls,
  visit: MemberVisit,
): Promise<{ redirectTo: string } | DashboardRefusal> {
  const form = readForm(visit.call, allowed);
  if (isRefusal(form)) return form;
  if (form.as !== undefined && form.as !== visit.person.email) return otherPerson(visit);
  const read = readQuestion({ publicUrl, keyring }, new URLSearchParams(form.asked));
  if (read.kind === "doubtful") return refuse("validation_error", read.message);
  if (read.kind === "told") return { redirectTo: read.redirectTo };
  const made = await allowClient(db, read.question, doerOf(visit));
  if (isRefusal(made)) return tellRefusal(made);
  const { redirectUri, state } = read.question;
  return { redirectTo: redirectWith(redirectUri, { code: made.code, state, iss: publicUrl }) };
}

/** Another tab may have signed somebody else in since the page was drawn. */
function otherPerson({ person }: MemberVisit): DashboardRefusal {
  return refuse(
    "conflict",
    `You are signed in as ${person.email} now, so nothing was connected. Load this page again.`,
  );
}
