// Whether an inbox may differ from what its reader has seen: somebody was asked, or an open request changed. One statement
// looks for all people who listen, by what was read of each before.

import type { Queryable } from "../../database/database.ts";
import { inboxWatchedMax } from "../../domain/channels/inbox-limits.ts";
import { figureSettlingSeconds } from "../../domain/limits.ts";
import { isAlive } from "../people/sessions.ts";
import { firstIdWithin, firstPendingReviewerId, isOpen } from "./may-still-decide.ts";

/** What was read of one inbox. */
export type SeenInbox = {
  /** In lower case. */
  email: string;
  /** How many places have this id or a later one. Creates that were under way had got theirs already. */
  since: string;
  places: number;
  /** Their open requests, by id. */
  open: Map<string, { workspaceId: string; tag: string }>;
};

/** Differs when a request was decided, voted on, changed, moved to another stage or passed on. */
const tagOf = (approval: string) => `(${approval}.status || coalesce((
    select ' ' || v.revision || ' ' || v.stage || ' ' || (
      select count(*) from votes x where x.workspace_id = v.workspace_id and x.approval_id = v.approval_id
    ) || ' ' || (
      select count(*) || ' ' || count(s.given_to) from seats s
      where s.workspace_id = v.workspace_id and s.approval_id = v.approval_id
    )
    from votings v where v.workspace_id = ${approval}.workspace_id and v.approval_id = ${approval}.id
  ), ''))`;

const itsApproval = (place: string) => `
  cross join lateral (
    select a.workspace_id, a.id, a.status, a.expires_at from approvals a
    where a.workspace_id = ${place}.workspace_id and a.id = ${place}.approval_id limit 1
  ) as a`;

/** Addresses in lower case, each once. */
export async function readSeen(db: Queryable, emails: readonly string[]): Promise<SeenInbox[]> {
  type Row = {
    email: string;
    since: string;
    places: number;
    open: [workspaceId: string, id: string, tag: string][];
  };
  const { rows } = await db.query<Row>({
    name: "inbox.readSeen",
    text: `
      select p.email, m.since, (
        select count(*)::int from reviewers r where lower(r.email) = p.email and r.id >= m.since
      ) as places, (
        select coalesce(json_agg(json_build_array(a.workspace_id, a.id, ${tagOf("a")})), '[]')
        from (
          select r.workspace_id, r.approval_id from reviewers r
          ${itsApproval("r")}
          where lower(r.email) = p.email and r.id >= ${firstPendingReviewerId} and ${isOpen("a")}
          order by lower(r.email) desc, r.id desc
          limit ${inboxWatchedMax}
        ) as place
        ${itsApproval("place")}
      ) as open
      from unnest($1::text[]) as p (email)
      cross join (select ${firstIdWithin("rev_", figureSettlingSeconds / 60)} as since) as m`,
    values: [emails],
  });
  return rows.map(({ email, since, places, open }) => ({
    email,
    since,
    places,
    open: new Map(open.map(([workspaceId, id, tag]) => [id, { workspaceId, tag }])),
  }));
}

/** Addresses whose inboxes may differ, and sessions that have ended. */
export type InboxChanges = { emails: Set<string>; endedSessions: Set<string> };

export async function findChanges(
  db: Queryable,
  seen: readonly SeenInbox[],
  sessionIds: readonly string[],
): Promise<InboxChanges> {
  const open = seen.flatMap((inbox) =>
    [...inbox.open].map(([id, { workspaceId, tag }]) => ({ id, workspaceId, tag, ...inbox })),
  );
  const { rows } = await db.query<{ kind: "inbox" | "session"; name: string }>({
    name: "inbox.findChanges",
    text: `
      select 'inbox' as kind, p.email as name
      from unnest($1::text[], $2::text[], $3::int[]) as p (email, since, places)
      where p.places <> (select count(*) from reviewers r where lower(r.email) = p.email and r.id >= p.since)
      union
      select 'inbox', k.email
      from unnest($4::text[], $5::text[], $6::text[], $7::text[]) as k (email, workspace_id, approval_id, tag)
      ${itsApproval("k")}
      where ${tagOf("a")} <> k.tag
      union
      select 'session', l.id
      from unnest($8::text[]) as l (id)
      where not exists (select from sessions s where s.id = l.id and ${isAlive})`,
    values: [
      ...[seen.map(({ email }) => email), seen.map(({ since }) => since)],
      seen.map(({ places }) => places),
      ...[open.map(({ email }) => email), open.map(({ workspaceId }) => workspaceId)],
      ...[open.map(({ id }) => id), open.map(({ tag }) => tag), sessionIds],
    ],
  });
  const named = (kind: string) =>
    new Set(rows.filter((row) => row.kind === kind).map(({ name }) => name));
  return { emails: named("inbox"), endedSessions: named("session") };
}
