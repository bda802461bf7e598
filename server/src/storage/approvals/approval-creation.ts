// The one statement that creates approvals, for many callers at once. It checks each row's API key, idempotency key and
// workspace quota, and writes each row that passes with its event, its reviewers and its deliveries. Nothing of it is
// visible before all of it is.

import type { Transaction } from "../../database/database.ts";
import {
  claimedReadBytesMax,
  largeWebhookWeight,
  reminderMinutesMin,
} from "../../domain/limits.ts";
import { type JsonText, toJsonText } from "../../domain/shown/json-text.ts";
import type { Submitted } from "../../domain/shown/submitted-fields.ts";
import {
  additionValues,
  bytesOf,
  columnList,
  largeSubmittedColumns,
  submittedColumns,
  typedSubmittedColumns,
} from "./submitted-columns.ts";

export type NewReviewer = { email: string; tokenNonce: Buffer; tokenDigest: Buffer };

export type NewApprovalRow = {
  keyDigest: Buffer;
  idempotency: { key: string; bodyDigest: Buffer } | null;
  submitted: Submitted<JsonText>;
  approverEmail: string | null;
  group: { id: string; key: string; name: string } | null;
  /** Of every stage and step. Null where only addresses are asked. */
  groupIds: string[] | null;
  ttlMinutes: number | null;
  callbackUrl: string | null;
  reviewers: NewReviewer[];
  /** Its people were found with care, and get seats in the same transaction. */
  hasSeats: boolean;
  /** `approvals` as answers tell it. */
  voting: JsonText | null;
};

export type CreationResult =
  | { kind: "unknown_key" }
  /** Somebody who is asked owns the key, is away, or may not be asked: the people must be found with care. */
  | { kind: "needs_care" }
  | { kind: "created"; workspaceId: string; id: string; createdAt: Date; expiresAt: Date }
  /** The idempotency key was used before. */
  | { kind: "known"; workspaceId: string; id: string; isSameBody: boolean }
  | { kind: "quota_exceeded"; workspaceId: string; plan: string; monthlyLimit: number };

/** The name of the index that refuses a statement whose idempotency key another one has just taken. */
export const idempotencyIndex = "approvals_idempotency_key";

type CreationRow = {
  workspace_id: string | null;
  plan: string;
  monthly_limit: number;
  known_id: string | null;
  is_same_body: boolean;
  is_fresh: boolean;
  needs_care: boolean;
  id: string | null;
  created_at: Date;
  expires_at: Date;
};

export async function insertMany(
  tx: Transaction,
  rows: NewApprovalRow[],
  secretKeyId: string,
): Promise<CreationResult[]> {
  const { rows: results } = await tx.query<CreationRow>(creationQuery(rows, secretKeyId));
  return toResults(rows, results);
}

/** The statement with its values; the benchmark gives the very same one to pgbench. */
export function creationQuery(rows: NewApprovalRow[], secretKeyId: string) {
  const size = sizes.find((each) => each >= rows.length);
  if (size === undefined) throw new Error(`a batch of ${rows.length} rows is too large`);
  const values = rows.flatMap(toValues);
  const padding = new Array<null>((size - rows.length) * columns.length).fill(null);
  return {
    name: `approvals.insertMany.${size}`,
    text: statementOf(size),
    // The values of sharedParameters come first, then those of each row.
    values: [
      secretKeyId,
      rows.flatMap(({ reviewers }, n) => reviewers.map(() => n)),
      rows.flatMap(({ reviewers }) => reviewers.map(({ email }) => email)),
      rows.flatMap(({ reviewers }) => reviewers.map(({ tokenNonce }) => tokenNonce)),
      rows.flatMap(({ reviewers }) => reviewers.map(({ tokenDigest }) => tokenDigest)),
      ...values,
      ...padding,
    ],
  };
}

/** The secret key's id and, as flat arrays over the whole batch, the reviewers with their row's number. */
const sharedParameters = 5;

/** Batches are filled up with empty rows to a power of two: few statements to prepare, not one per size. */
const sizes = [1, 2, 4, 8, 16, 32, 64];

const columns = [
  ["key_digest", "bytea"],
  ["idempotency_key", "text"],
  ["body_digest", "bytea"],
  ...typedSubmittedColumns,
  ["approver_email", "text"],
  ["group_id", "text"],
  ["group_key", "text"],
  ["group_name", "text"],
  ["group_ids", "text[]"],
  ["ttl_minutes", "integer"],
  ["callback_url", "text"],
  ["has_seats", "boolean"],
  ["voting", "text"],
] as const;

/** In the order of the columns. */
function toValues(row: NewApprovalRow): unknown[] {
  const { submitted } = row;
  return [
    row.keyDigest,
    row.idempotency?.key ?? null,
    row.idempotency?.bodyDigest ?? null,
    submitted.summary,
    submitted.payload,
    submitted.metadata,
    submitted.agentState,
    submitted.reasoning,
    toJsonText(submitted.recentActions),
    submitted.agentName,
    ...additionValues(submitted),
    row.approverEmail,
    row.group?.id ?? null,
    row.group?.key ?? null,
    row.group?.name ?? null,
    row.groupIds,
    row.ttlMinutes,
    row.callbackUrl,
    row.hasSeats,
    row.voting,
  ];
}

/**
 * Of several rows of a batch with one idempotency key, the statement considers the first. The others share its result:
 * an approval that it created is `known` to them, and its refusal is theirs.
 */
function toResults(rows: NewApprovalRow[], found: CreationRow[]): CreationResult[] {
  const firsts = new Map<string, { result: CreationResult; bodyDigest: Buffer }>();
  return rows.map(({ idempotency }, at) => {
    const row = found[at];
    if (row === undefined) throw new Error("the create statement answered too few rows");
    const result = toResult(row);
    if (idempotency === null || row.workspace_id === null) return result;
    const { key, bodyDigest } = idempotency;
    const name = `${row.workspace_id} ${key}`;
    if (row.is_fresh) firsts.set(name, { result, bodyDigest });
    const first = firsts.get(name);
    if (first === undefined || first.result === result) return result;
    if (first.result.kind !== "created") return first.result;
    const { workspaceId, id } = first.result;
    return { kind: "known", workspaceId, id, isSameBody: first.bodyDigest.equals(bodyDigest) };
  });
}

function toResult(row: CreationRow): CreationResult {
  const workspaceId = row.workspace_id;
  if (workspaceId === null) return { kind: "unknown_key" };
  if (row.known_id !== null) {
    return { kind: "known", workspaceId, id: row.known_id, isSameBody: row.is_same_body };
  }
  if (row.id !== null) {
    const { id, created_at: createdAt, expires_at: expiresAt } = row;
    return { kind: "created", workspaceId, id, createdAt, expiresAt };
  }
  if (row.needs_care) return { kind: "needs_care" };
  const { plan, monthly_limit: monthlyLimit } = row;
  return { kind: "quota_exceeded", workspaceId, plan, monthlyLimit };
}

const statements = new Map<number, string>();

function statementOf(size: number): string {
  const known = statements.get(size);
  if (known !== undefined) return known;
  const text = buildStatement(size);
  statements.set(size, text);
  return text;
}

function buildStatement(size: number): string {
  const tuples = Array.from({ length: size }, (_, row) => {
    const placeholders = columns.map(
      ([, type], column) => `$${sharedParameters + 1 + row * columns.length + column}::${type}`,
    );
    return `(${row}, ${placeholders.join(", ")})`;
  });
  const names = columns.map(([name]) => name).join(", ");
  return `
with input as materialized (
  select * from (values ${tuples.join(",\n")}) as rows (n, ${names})
  where key_digest is not null
),
caller as materialized (
  select i.n, i.idempotency_key, i.body_digest, k.workspace_id, k.id as key_id, w.plan, w.reminder_percent, w.review_code,
    -- The function is called only where it may say yes.
    not i.has_seats and (
      k.owner_email is not null or w.approver_limit <> 'anybody' or coalesce(w.absences_until > now(), false)
    ) and is_asked_with_care(
      w.id, k.owner_email, coalesce(w.absences_until > now(), false), w.approver_limit, w.approver_domains, $2, $3, i.n
    ) as needs_care,
    nullif(w.approver_limit, 'anybody') as approver_limit,
    coalesce(i.ttl_minutes, w.expiry_minutes) as ttl_minutes,
    (w.has_channels or w.looks_for_push and is_pushed_to($2, $3, i.n)) and i.channels is distinct from array['mail'] as has_channels, i.channels, i.group_id,
    coalesce(i.require_signature, false) or w.requires_signature or i.group_ids is not null and exists (
      select from groups g
      where g.workspace_id = k.workspace_id and g.id = any (i.group_ids) and g.requires_signature
    ) as needs_signature,
    case when p.has_overage then coalesce(w.cap, p.cap)
      else least(coalesce(w.included, p.included), w.cap) end as monthly_limit
  from input i
  join api_keys k on k.digest = i.key_digest and k.revoked_at is null
  join workspaces w on w.id = k.workspace_id
  join plans p on p.name = w.plan
),
known as materialized (
  select c.n, a.id, a.body_digest = c.body_digest as is_same_body
  from caller c
  cross join lateral (
    select a.id, a.body_digest from approvals a
    where a.workspace_id = c.workspace_id and a.idempotency_key = c.idempotency_key
    limit 1
  ) as a
),
fresh as materialized (
  select c.n, c.workspace_id, c.key_id, c.ttl_minutes, c.monthly_limit, c.reminder_percent, c.review_code, c.has_channels,
    c.channels, c.group_id, c.needs_signature, c.approver_limit,
    row_number() over (partition by c.workspace_id order by c.n) as place
  from caller c
  where not c.needs_care and not exists (select from known where known.n = c.n)
    and (
      c.idempotency_key is null
      or c.n in (
        select min(n) from caller where idempotency_key is not null and not needs_care
        group by workspace_id, idempotency_key
      )
    )
),
-- The row of the month is locked by this update, so racing statements are counted one after the other.
-- Workspaces are taken in one order, so that two statements never wait for each other.
usage as (
  insert into monthly_usage as u (workspace_id, month, requests, monthly_limit, granted)
  select workspace_id, date_trunc('month', now() at time zone 'utc')::date,
    least(count(*), monthly_limit), monthly_limit, least(count(*), monthly_limit)
  from fresh
  group by workspace_id, monthly_limit
  order by workspace_id
  on conflict (workspace_id, month) do update set
    requests = u.requests + greatest(0, least(excluded.granted, excluded.monthly_limit - u.requests)),
    granted = greatest(0, least(excluded.granted, excluded.monthly_limit - u.requests)),
    monthly_limit = excluded.monthly_limit
  returning u.workspace_id, u.granted
),
granted as materialized (
  select f.n, f.workspace_id, f.key_id, f.review_code, f.has_channels, f.channels, f.group_id, f.needs_signature,
    f.approver_limit,
    new_id('req_') as id, new_id('evt_') as event_id, now_ms() as created_at,
    now_ms() + f.ttl_minutes * interval '1 minute' as expires_at,
    -- A reminder that would leave hardly any time is none.
    case when f.ttl_minutes * f.reminder_percent / 100.0 > ${reminderMinutesMin}
      then now_ms() + f.ttl_minutes * (100 - f.reminder_percent) / 100.0 * interval '1 minute' end as remind_at
  from fresh f
  join usage on usage.workspace_id = f.workspace_id
  where f.place <= usage.granted
),
approval as (
  insert into approvals (
    workspace_id, id, ${submittedColumns.join(", ")},
    approver_email, group_id, group_key, group_name, idempotency_key, body_digest, created_at, expires_at,
    remind_at, callback_url, key_id, has_seats, voting, has_channels, needs_signature, approver_limit
  )
  select g.workspace_id, g.id, ${columnList("i", submittedColumns)}, i.approver_email, i.group_id, i.group_key, i.group_name,
    i.idempotency_key, i.body_digest, g.created_at, g.expires_at, g.remind_at, i.callback_url,
    g.key_id, i.has_seats, i.voting, g.has_channels, g.needs_signature, g.approver_limit
  from granted g
  join input i on i.n = g.n
),
event as (
  insert into events (workspace_id, id, approval_id, kind, created_at)
  select workspace_id, event_id, id, 'request.created', created_at from granted
),
asked as materialized (
  select g.workspace_id, g.id as approval_id, g.event_id, g.review_code, g.has_channels, g.channels, g.group_id,
    new_id('rev_') as id, r.email, r.nonce, r.digest
  from granted g
  join unnest((select $2::integer[]), (select $3::text[]), (select $4::bytea[]), (select $5::bytea[]))
    as r (n, email, nonce, digest) on r.n = g.n
),
reviewer as (
  insert into reviewers (
    workspace_id, id, approval_id, email, secret_key_id, token_nonce, token_digest, needs_code
  )
  select workspace_id, id, approval_id, email, $1::text, nonce, digest, review_code from asked
),
-- Mail may wait where another channel tells first. A trigger writes the news for those.
mail as (
  insert into deliveries (workspace_id, event_id, channel, reviewer_id, due_at)
  select workspace_id, event_id, 'mail', id,
    case when has_channels then now_ms() + mail_wait(workspace_id, email, group_id, channels) else now_ms() end
  from asked
),
webhook as (
  insert into deliveries (workspace_id, event_id, channel, endpoint_id, state, weight)
  select g.workspace_id, g.event_id, 'webhook', e.id, case when e.disabled_at is null then 'due' else 'skipped' end,
    case when ${bytesOf("i", largeSubmittedColumns)} > ${claimedReadBytesMax} then ${largeWebhookWeight} else 1 end
  from granted g
  join input i on i.n = g.n
  join endpoints e on e.workspace_id = g.workspace_id and e.deleted_at is null
    and (e.event_kinds is null or 'request.created' = any (e.event_kinds))
)
select c.workspace_id, c.plan, c.monthly_limit, known.id as known_id, known.is_same_body,
  f.n is not null as is_fresh, coalesce(c.needs_care, false) as needs_care, g.id, g.created_at, g.expires_at
from input i
left join caller c on c.n = i.n
left join known on known.n = i.n
left join fresh f on f.n = i.n
left join granted g on g.n = i.n
order by i.n`;
}
