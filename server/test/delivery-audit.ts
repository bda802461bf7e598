// Compares what receivers heard with what the database says and with what was promised. It is pure, so that it can
// be shown what it must notice.

import type { Database } from "../src/database/database.ts";
import type { Heard } from "./test-worker.ts";
import { isSignedWith } from "./webhook-verifier.ts";

export type AuditedDelivery = {
  id: string;
  approvalId: string;
  endpointId: string;
  state: string;
  attempts: number;
  /** Of each attempt, in the order of their numbers; null while it is open. */
  outcomes: (string | null)[];
};

export type AuditedReceiver = {
  endpointId: string;
  secret: string;
  heard: Pick<Heard, "headers" | "body">[];
};

export type Audit = {
  /** The approvals whose creation was answered with 201. */
  approvalIds: string[];
  deliveries: AuditedDelivery[];
  receivers: AuditedReceiver[];
};

export async function readDeliveries(db: Database): Promise<AuditedDelivery[]> {
  const { rows } = await db.query<{
    id: string;
    approval_id: string;
    endpoint_id: string;
    state: string;
    attempts: number;
    outcomes: (string | null)[];
  }>(
    `select d.id, ev.approval_id, d.endpoint_id, d.state, d.attempts,
       array(select a.outcome from attempts a
             where a.workspace_id = d.workspace_id and a.delivery_id = d.id order by a.number) as outcomes
     from deliveries d
     join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
     where d.endpoint_id is not null`,
  );
  return rows.map((row) => ({
    id: row.id,
    approvalId: row.approval_id,
    endpointId: row.endpoint_id,
    state: row.state,
    attempts: row.attempts,
    outcomes: row.outcomes,
  }));
}

/** One line for each flaw, when every receiver accepts everything and workers may crash. None when all is well. */
export function flawsOf({ approvalIds, deliveries, receivers }: Audit): string[] {
  return [
    ...flawsOfPromise(approvalIds, deliveries, receivers),
    ...deliveries.flatMap(flawsOfRows),
    ...receivers.flatMap((receiver) => flawsOfReceiver(receiver, deliveries)),
  ];
}

/** How often receivers heard something that they had heard before. */
export function countRepeats(receivers: AuditedReceiver[]): number {
  const ids = receivers.flatMap(({ heard }) => heard.map(idOf));
  return ids.length - new Set(ids).size;
}

export function countInterrupted(deliveries: AuditedDelivery[]): number {
  return deliveries.flatMap(({ outcomes }) => outcomes).filter(isInterrupted).length;
}

function flawsOfPromise(
  approvalIds: string[],
  deliveries: AuditedDelivery[],
  receivers: AuditedReceiver[],
): string[] {
  const pair = (approvalId: string, endpointId: string) => `${approvalId} to ${endpointId}`;
  const promised = approvalIds.flatMap((id) =>
    receivers.map(({ endpointId }) => pair(id, endpointId)),
  );
  const written = deliveries.map(({ approvalId, endpointId }) => pair(approvalId, endpointId));
  const known = new Set(written);
  return [
    ...promised.filter((each) => !known.has(each)).map((each) => `${each}: promised, not there`),
    ...(known.size === written.length ? [] : ["one approval has two deliveries to one endpoint"]),
    ...(known.size > promised.length ? ["there are more deliveries than promised"] : []),
  ];
}

function flawsOfRows({ id, state, attempts, outcomes }: AuditedDelivery): string[] {
  const last = outcomes.at(-1);
  const earlier = outcomes.slice(0, -1);
  return [
    ...(state === "delivered" ? [] : [`${id}: is ${state}`]),
    ...(attempts === outcomes.length ? [] : [`${id}: counts ${attempts} of ${outcomes.length}`]),
    ...(last === "delivered" ? [] : [`${id}: the last attempt is ${last}`]),
    ...earlier.filter((each) => !isInterrupted(each)).map((each) => `${id}: an attempt is ${each}`),
  ];
}

function flawsOfReceiver(receiver: AuditedReceiver, deliveries: AuditedDelivery[]): string[] {
  const { endpointId, secret, heard } = receiver;
  const mine = deliveries.filter((delivery) => delivery.endpointId === endpointId);
  const known = new Set(mine.map(({ id }) => id));
  const byId = Map.groupBy(heard, idOf);
  return [
    ...[...byId.keys()].filter((id) => !known.has(id)).map((id) => `${id}: came from nowhere`),
    ...heard
      .filter((each) => !isSignedWith(secret, signatureOf(each), each.body))
      .map((each) => `${idOf(each)}: is not signed`),
    ...mine.flatMap(({ id, outcomes }) => flawsOfHearing(id, outcomes, byId.get(id) ?? [])),
  ];
}

function flawsOfHearing(
  id: string,
  outcomes: (string | null)[],
  heard: AuditedReceiver["heard"],
): string[] {
  const [first, ...repeats] = heard;
  if (first === undefined) return [`${id}: was never heard`];
  const isSame = repeats.every(({ body }) => body.equals(first.body));
  const interruptions = outcomes.filter(isInterrupted).length;
  return [
    ...(isSame ? [] : [`${id}: changed from one time to the next`]),
    ...(repeats.length <= interruptions
      ? []
      : [`${id}: came ${heard.length} times, with ${interruptions} interruptions`]),
  ];
}

function idOf({ headers }: Pick<Heard, "headers">): string {
  return String(headers["x-service-delivery-id"]);
}

function signatureOf({ headers }: Pick<Heard, "headers">): string {
  return String(headers["x-service-signature"]);
}

function isInterrupted(outcome: string | null): boolean {
  return outcome === "interrupted";
}
