// Writes the index of words: takes requests that wait to be indexed, and those from before an upgrade, and writes the
// words of each. A request that is taken and its words are one transaction, so a crash loses neither.

import type { Transaction } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import { indexBytesMax, searchedJsonCharactersMax } from "../../domain/limits.ts";
import { wordsOfApproval } from "../../domain/search/searched-texts.ts";
import { largeBytes } from "./approvals.ts";
import { Pace } from "./pace.ts";
import {
  agentLexeme,
  approverLexeme,
  deciderLexeme,
  lexemeOf,
  seasonOf,
  statusLexeme,
} from "./search-lexemes.ts";
import { type SearchedRow, searchedColumns, toSearched } from "./searched-columns.ts";

export type ApprovalRef = { workspaceId: string; id: string };

/** Takes the oldest that no other worker holds. */
export async function takeQueued(tx: Transaction, limit: number): Promise<ApprovalRef[]> {
  const { rows } = await tx.query<{ workspace_id: string; approval_id: string }>({
    name: "search.takeQueued",
    text: `
      delete from search_queue where ctid = any (array(
        select ctid from search_queue order by approval_id limit $1 for update skip locked
      ))
      returning workspace_id, approval_id`,
    values: [limit],
  });
  const unique = new Map(rows.map((row) => [`${row.workspace_id} ${row.approval_id}`, row]));
  return [...unique.values()].map((row) => ({
    workspaceId: row.workspace_id,
    id: row.approval_id,
  }));
}

/**
 * The newest that are still to be done of one workspace; null when no workspace has any, or others hold them. Those
 * without any words come first: no search finds them.
 */
export async function takeBacklog(tx: Transaction, limit: number): Promise<ApprovalRef[] | null> {
  const { rows: held } = await tx.query<{ workspace_id: string; before_id: string }>(
    `select workspace_id, before_id from search_backlog
     order by has_words limit 1 for update skip locked`,
  );
  const [backlog] = held;
  if (backlog === undefined) return null;
  const workspaceId = backlog.workspace_id;
  const { rows } = await tx.query<{ id: string }>(
    `select id from approvals where workspace_id = $1 and id < $2 order by id desc limit $3`,
    [workspaceId, backlog.before_id, limit],
  );
  const last = rows.length < limit ? undefined : rows.at(-1);
  if (last === undefined) {
    await tx.query("delete from search_backlog where workspace_id = $1", [workspaceId]);
  } else {
    await tx.query("update search_backlog set before_id = $2 where workspace_id = $1", [
      workspaceId,
      last.id,
    ]);
  }
  return rows.map(({ id }) => ({ workspaceId, id }));
}

/** Writes the words of these, also again. Seasons are locked first: of two workers, the later one reads what is newer. */
export async function writeWords(tx: Transaction, refs: readonly ApprovalRef[]): Promise<void> {
  const numbers = await lockSeasons(tx, refs);
  const pace = new Pace();
  let rest = refs;
  while (rest.length > 0) {
    const rows = await readFitting(tx, rest);
    const last = rows.at(-1);
    if (last === undefined) return;
    const lexemes: string[] = [];
    for (const row of rows) lexemes.push(await lexemesOf(row, numbers, pace));
    await insertWords(tx, rows, lexemes);
    rest = rest.slice(last.place);
  }
}

type DocumentRow = SearchedRow & {
  workspace_id: string;
  id: string;
  status: ApprovalStatus;
  group_id: string | null;
  /** Among those asked for, from 1 on. */
  place: number;
};

/** The first of these, up to the limit of bytes; at least one if any is there. */
async function readFitting(tx: Transaction, refs: readonly ApprovalRef[]): Promise<DocumentRow[]> {
  const { rows } = await tx.query<DocumentRow>({
    name: "search.readDocuments",
    text: `
      with sized as materialized (
        select asked.workspace_id, a.id, asked.n, row_number() over (order by asked.n) as row,
          sum(a.bytes) over (order by asked.n) as bytes
        from unnest((select $1::text[]), (select $2::text[])) with ordinality as asked (workspace_id, id, n)
        cross join lateral (
          select a.id, ${largeBytes} as bytes from approvals a
          where a.workspace_id = asked.workspace_id and a.id = asked.id
          limit 1
        ) as a
      )
      select a.workspace_id, a.id, a.status, a.group_id, sized.n::int as place,
        ${searchedColumns("beginning", searchedJsonCharactersMax)}
      from sized
      cross join lateral (
        select a.* from approvals a where a.workspace_id = sized.workspace_id and a.id = sized.id limit 1
      ) as a
      where sized.row = 1 or sized.bytes <= ${indexBytesMax}
      order by sized.n`,
    values: [refs.map(({ workspaceId }) => workspaceId), refs.map(({ id }) => id)],
  });
  return rows;
}

async function insertWords(
  tx: Transaction,
  rows: readonly DocumentRow[],
  lexemes: readonly string[],
): Promise<void> {
  await tx.query({
    name: "search.writeWords",
    text: `
      insert into approval_words (workspace_id, approval_id, words)
      select workspace_id, id, array_to_tsvector(string_to_array(words, e'\\n'))
      from unnest($1::text[], $2::text[], $3::text[]) as written (workspace_id, id, words)
      on conflict (workspace_id, approval_id) do update set words = excluded.words`,
    values: [rows.map((row) => row.workspace_id), rows.map((row) => row.id), lexemes],
  });
}

/** A line for each. */
async function lexemesOf(
  row: DocumentRow,
  numbers: ReadonlyMap<string, number>,
  pace: Pace,
): Promise<string> {
  const searched = toSearched(row);
  const number = numbers.get(`${row.workspace_id} ${seasonOf(row.id)}`);
  if (number === undefined) throw new Error(`the season of ${row.id} was not written`);
  const names = [
    statusLexeme(row.status),
    agentLexeme(searched.agentName ?? ""),
    approverLexeme(row.group_id ?? searched.approverEmail ?? ""),
    ...(searched.decidedBy === null ? [] : [deciderLexeme(searched.decidedBy)]),
  ];
  const words = await pace.finish(wordsOfApproval(searched));
  return [...words, ...names].map((word) => lexemeOf(number, word)).join("\n");
}

/** In one order, so that two workers never wait for each other. */
async function lockSeasons(
  tx: Transaction,
  refs: readonly ApprovalRef[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<{ workspace_id: string; season: string; number: number }>({
    name: "search.lockSeasons",
    text: `
      insert into search_seasons as s (workspace_id, season, indexed)
      select workspace_id, season, count(*)
      from unnest($1::text[], $2::text[]) as asked (workspace_id, season)
      where exists (select from workspaces w where w.id = workspace_id)
      group by workspace_id, season
      order by workspace_id, season
      on conflict (workspace_id, season) do update set indexed = s.indexed + excluded.indexed
      returning s.workspace_id, s.season, s.number`,
    values: [refs.map(({ workspaceId }) => workspaceId), refs.map(({ id }) => seasonOf(id))],
  });
  return new Map(
    rows.map(({ workspace_id: workspaceId, season, number }) => [
      `${workspaceId} ${season}`,
      number,
    ]),
  );
}
