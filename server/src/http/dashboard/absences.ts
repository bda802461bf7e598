// Absences on the dashboard: a person sets, changes and ends their own; owners and admins see and end those of others.

import { z } from "zod";
import { type ChangeRefusal, isRefusal, refuse } from "../../domain/refusal.ts";
import {
  changeAbsence,
  endAbsence,
  endOwnAbsence,
  mayStandIn,
  setAbsence,
} from "../../operations/people/manage-absences.ts";
import * as absences from "../../storage/people/absences.ts";
import * as storedColleagues from "../../storage/people/colleagues.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import type { Absence } from "../../wire/dashboard-absences.ts";
import type { Done } from "../../wire/dashboard-contract.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
  readForm,
  type Visit,
} from "./visit.ts";

export async function listOwn(
  { db }: DashboardCalls,
  { person }: Visit,
): Promise<{ absences: Absence[] }> {
  return { absences: (await absences.listOfPerson(db, person.email)).map(toAbsence) };
}

const time = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-11-15T09:00:00Z" })
  .transform((text) => new Date(text));
const newAbsence = z.object({ delegateEmail: z.string(), startsAt: time, endsAt: time });

export async function set(
  calls: DashboardCalls,
  { call, person }: Visit,
): Promise<Absence | DashboardRefusal> {
  const form = readForm(call, newAbsence);
  if (isRefusal(form)) return form;
  const { email } = person;
  const input = { ...form, email, workspaceId: idIn(call, "workspaceId") };
  return tell(calls, await setAbsence(calls.db, input, { actor: email }));
}

export async function change(
  calls: DashboardCalls,
  { call, person }: Visit,
): Promise<Absence | DashboardRefusal> {
  const form = readForm(call, newAbsence.partial());
  if (isRefusal(form)) return form;
  const { delegateEmail, startsAt, endsAt } = form;
  const changes = {
    ...(delegateEmail === undefined ? {} : { delegateEmail }),
    ...(startsAt === undefined ? {} : { startsAt }),
    ...(endsAt === undefined ? {} : { endsAt }),
  };
  const id = idIn(call, "absenceId");
  return tell(calls, await changeAbsence(calls.db, { id, ...changes }, { actor: person.email }));
}

export async function endOwn(
  { db }: DashboardCalls,
  { call, person }: Visit,
): Promise<Done | DashboardRefusal> {
  const ended = await endOwnAbsence(db, idIn(call, "absenceId"), { actor: person.email });
  return isRefusal(ended) ? tellRefusal(ended) : { done: true };
}

export async function colleagues(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<{ colleagues: string[] } | DashboardRefusal> {
  const workspace = await workspaces.find(db, workspaceId);
  if (workspace === null) return refuse("not_found", "There is no such workspace.");
  const found = await storedColleagues.list(db, workspaceId);
  return { colleagues: found.filter((email) => mayStandIn(workspace, email)) };
}

export async function list(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<{ absences: Absence[] }> {
  return { absences: (await absences.list(db, workspaceId)).map(toAbsence) };
}

export async function end(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Done | DashboardRefusal> {
  const ended = await endAbsence(db, idIn(visit.call, "absenceId"), doerOf(visit));
  return isRefusal(ended) ? tellRefusal(ended) : { done: true };
}

/** An absence that begins now is begun by the worker. */
function tell(
  { onDue }: DashboardCalls,
  done: absences.Absence | ChangeRefusal,
): Absence | DashboardRefusal {
  if (isRefusal(done)) return tellRefusal(done);
  if (done.hasBegun) onDue();
  return toAbsence(done);
}

function toAbsence(absence: absences.Absence): Absence {
  const { id, workspaceId, email, delegateEmail, startsAt, endsAt, hasBegun } = absence;
  return {
    id,
    workspaceId,
    email,
    delegateEmail,
    ...(absence.isDelegateHere ? {} : { isDelegateGone: true }),
    ...(absence.isDelegateAllowed ? {} : { isDelegateNotAllowed: true }),
    startsAt: startsAt.toISOString(),
    endsAt: endsAt.toISOString(),
    hasBegun,
  };
}
