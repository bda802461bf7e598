// What must never be in the tables, asked in plain SQL about one request: each name says what is broken.

import type { Queryable } from "../src/database/database.ts";

const voteOf = "v.workspace_id = $1 and v.approval_id = $2";

/** Whoever may not approve it: the requester, and the key's owner then and now. */
const excluded = `
  select person_of(a.requested_by) as person from approval a where a.requested_by is not null
  union all select g.key_owner from voting g where g.key_owner is not null
  union all
  select person_of(k.owner_email) from api_keys k join approval a on a.workspace_id = k.workspace_id and a.key_id = k.id
  where k.owner_email is not null`;

const counted = `
  select v.* from votes v join voting g on v.revision = g.revision
  where ${voteOf} and v.verdict = 'approve' and v.voter = person_of(v.voter_email)
    and v.voter not in (${excluded}) and v.person not in (${excluded})`;

const told = `
  select jsonb_build_object('stage', g.stage, 'revision', g.revision, 'stages', (
    select jsonb_agg(jsonb_build_object('notify', s.notify, 'required', s.required, 'votes', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'email', v.voter_email, 'verdict', v.verdict, 'revision', v.revision, 'note', v.note, 'via', v.via,
        'for', v.for_email, 'at', to_char(v.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      ) order by v.created_at), '[]') from votes v where ${voteOf} and v.stage = s.number
    )) order by s.number) from stages s where s.workspace_id = $1 and s.approval_id = $2
  )) from voting g`;

const mailedTwice = `
  select from events ev
  join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id
  join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
  where ev.workspace_id = $1 and ev.approval_id = $2
  group by ev.id, person_of(r.email) having count(*) > 1`;

const events = (kinds: string) =>
  `(select count(*) from events ev where ev.workspace_id = $1 and ev.approval_id = $2 and ev.kind in (${kinds}))`;

const resolved = "'request.approved', 'request.rejected', 'request.expired', 'request.cancelled'";

const isBroken: Record<string, string> = {
  "one voter twice in a revision": `exists (
    select from votes v where ${voteOf} group by v.revision, person_of(v.voter_email) having count(*) > 1)`,
  "one person's place twice in a revision": `exists (
    select from votes v where ${voteOf} group by v.revision, v.person having count(*) > 1)`,
  "somebody who votes for another while another votes for them": `exists (
    select from votes v join votes other on other.workspace_id = $1 and other.approval_id = $2
      and other.revision = v.revision and other.person = v.voter and other.voter <> v.voter
    where ${voteOf})`,
  "a vote of a revision that isn't there": `exists (
    select from votes v, voting g where ${voteOf} and v.revision > g.revision)`,
  "a vote for another that doesn't say so": `exists (
    select from votes v where ${voteOf} and (v.for_email is null) <> (v.person = v.voter)
      or ${voteOf} and person_of(v.for_email) <> v.person)`,
  "approved with too few people": `exists (
    select from approval a, stages s where a.status = 'APPROVED' and s.workspace_id = $1 and s.approval_id = $2
      and s.required > (
        select least(count(distinct c.person), count(distinct c.voter)) from (${counted}) as c where c.stage = s.number))`,
  "approved with one person in two stages": `exists (
    select from approval a, (${counted}) as c where a.status = 'APPROVED'
    group by c.person having count(*) > 1)`,
  "approved another text": `exists (
    select from approval a, voting g where a.status = 'APPROVED' and coalesce(a.edit, a.payload) is distinct from coalesce(
      (select r.payload from revisions r where r.workspace_id = $1 and r.approval_id = $2 and r.number = g.revision),
      a.payload))`,
  "an edit beside an end that isn't an approval":
    "exists (select from approval a where a.status <> 'APPROVED' and a.edit is not null)",
  "revisions with a gap": `(
    select count(*) + 1 <> (select g.revision from voting g)
      or coalesce(max(r.number), 1) <> (select g.revision from voting g)
    from revisions r where r.workspace_id = $1 and r.approval_id = $2)`,
  "a rejection that doesn't end it": `exists (
    select from approval a where (a.status = 'REJECTED') <> exists (
      select from votes v, voting g where ${voteOf} and v.verdict = 'reject' and v.revision = g.revision))`,
  "a vote of somebody who asked": `exists (
    select from votes v, voting g where ${voteOf} and (g.requester in (v.voter, v.person) or g.key_owner in (v.voter, v.person)))`,
  "a seat of somebody who asked": `exists (
    select from seats v, voting g where ${voteOf} and (g.requester in (v.voter, v.person) or g.key_owner in (v.voter, v.person)))`,
  "another answer than the tables": `exists (
    select from approval a where a.voting is not null and a.voting::jsonb <> (${told}))`,
  "another number of ends than one": `exists (
    select from approval a where (a.status <> 'PENDING')::int <> ${events(resolved)})`,
  "a vote without its evidence": `exists (
    select from votes v where ${voteOf} and not exists (
      select from evidence e where e.workspace_id = $1 and e.approval_id = $2 and e.revision = v.revision
        and e.voter = v.voter and e.email = v.voter_email and e.for_email is not distinct from v.for_email
        and e.verdict = v.verdict and e.voted_at = v.created_at))`,
  "evidence without its vote": `
    (select count(*) from evidence v where ${voteOf}) <> (select count(*) from votes v where ${voteOf})`,
  "a vote without its event": `(select count(*) from votes v where ${voteOf}) <> ${events("'request.vote_recorded'")}`,
  "a step without its event": `(
    select count(*) from steps v where ${voteOf} and v.outcome in ('asked', 'nobody_new')) <> ${events("'request.escalated'")}`,
  "a step that happened twice": `exists (
    select from events ev where ev.workspace_id = $1 and ev.approval_id = $2 and ev.kind = 'request.escalated'
    group by ev.detail->>'stage', ev.detail->>'afterMinutes' having count(*) > 1)`,
  "somebody who is mailed twice for one event": `exists (${mailedTwice})`,
  "a decision after the end": `exists (
    select from approval a where a.status in ('APPROVED', 'REJECTED') and a.resolved_at > a.expires_at)`,
};

const text = `
  with approval as materialized (select * from approvals a where a.workspace_id = $1 and a.id = $2),
  voting as materialized (select * from votings v where ${voteOf})
  select name from (values ${Object.entries(isBroken)
    .map(([name, sql]) => `('${name.replaceAll("'", "''")}', ${sql})`)
    .join(",\n")}) as each (name, is_broken)
  where is_broken`;

/** The names of what is broken: none. */
export async function listBroken(
  db: Queryable,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: "votingInvariants",
    text,
    values: [workspaceId, approvalId],
  });
  return rows.map(({ name }) => name);
}
