// A 201 means one request, with the bytes that were sent; the same key twice means the same request.

import {
  byClock,
  type CreateCall,
  type Evidence,
  type Flaw,
  type RequestRow,
} from "../evidence.ts";
import { membersOf } from "./json-text.ts";

export function flawsOfCreates({ creates, requests }: Evidence): Flaw[] {
  const rows = Map.groupBy(requests, ({ id }) => id);
  const byKey = Map.groupBy(creates, keyOf);
  const answered = creates.filter(({ status }) => status === 201);
  return [
    ...answered.flatMap((call) => flawsOfAnswer(call, rows)),
    ...[...byKey].flatMap(([key, calls]) => flawsOfKey(key, calls)),
    ...requests.flatMap((row) => flawsOfRow(row, byKey)),
    ...twice(requests),
  ];
}

function flawsOfAnswer(call: CreateCall, rows: Map<string, RequestRow[]>): Flaw[] {
  const members = membersOf(call.answer ?? "{}");
  const id: string = JSON.parse(members.get("id") ?? "null");
  const found = rows.get(id) ?? [];
  const row = found[0];
  if (row === undefined || found.length > 1) {
    return [durable(`${id} was answered with 201 and is there ${found.length} times`)];
  }
  const stored = membersOf(row.answer);
  const flaws: Flaw[] = [];
  if (row.workspaceId !== call.workspaceId) flaws.push(crossing(`${id} is in another workspace`));
  if (members.get("payload") !== call.payload)
    flaws.push(exact(`${id}: answered with another payload`));
  if (row.payload !== call.payload) flaws.push(exact(`${id}: another payload is stored`));
  if (stored.get("payload") !== call.payload) flaws.push(exact(`${id}: another payload is read`));
  for (const [name, sent] of [
    ["summary", call.summary],
    ["approverEmail", call.approver],
  ] as const) {
    if (stored.get(name) === JSON.stringify(sent)) continue;
    flaws.push(exact(`${id}: ${name} was sent as ${sent} and is ${stored.get(name)}`));
  }
  return flaws;
}

function flawsOfKey(key: string, calls: CreateCall[]): Flaw[] {
  const ids = new Set(
    calls
      .filter(({ status }) => status === 201)
      .map(({ answer }) => membersOf(answer ?? "{}").get("id")),
  );
  return ids.size > 1 ? [once(`${key} made ${[...ids].join(" and ")}`)] : [];
}

/** Nothing is there that nobody asked for. */
function flawsOfRow(row: RequestRow, byKey: Map<string, CreateCall[]>): Flaw[] {
  const calls = byKey.get(`${row.workspaceId} ${row.idempotencyKey}`) ?? [];
  if (calls.length === 0) return [exact(`${row.id} is there, and nobody asked for it`)];
  const isAsSent = calls.some(
    ({ payload, summary }) => payload === row.payload && summary === row.summary,
  );
  const flaws = isAsSent ? [] : [exact(`${row.id} has what nobody sent: ${row.payload}`)];
  if (calls.every(({ at }) => at > row.createdAt)) {
    flaws.push(byClock(exact(`${row.id} was made before anybody asked for it`)));
  }
  return flaws;
}

function twice(requests: RequestRow[]): Flaw[] {
  return [...Map.groupBy(requests, (row) => `${row.workspaceId} ${row.idempotencyKey}`)]
    .filter(([, rows]) => rows.length > 1)
    .map(([key, rows]) => once(`${key} made ${rows.map(({ id }) => id).join(" and ")}`));
}

function keyOf({ workspaceId, idempotencyKey }: CreateCall): string {
  return `${workspaceId} ${idempotencyKey}`;
}

const durable = (what: string): Flaw => ({ promise: "an acknowledged create is there", what });
const exact = (what: string): Flaw => ({ promise: "bytes are as they were sent", what });
const once = (what: string): Flaw => ({ promise: "one request for each idempotency key", what });
const crossing = (what: string): Flaw => ({ promise: "workspaces don't cross", what });
