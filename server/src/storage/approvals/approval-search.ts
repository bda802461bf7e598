// Searches approvals by words and by who decided. Common words fill a page from the first rows of the list, rarer ones
// are looked up in the index, a few seasons at a time. Rows that are not indexed yet are read themselves.

import type { Queryable } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import {
  excerptJsonBytesMax,
  searchGlance,
  searchQueueGlance,
  searchQueueLookedAtMax,
  searchStepRequests,
  unindexedJsonBytesMax,
  unindexedSearchedMax,
} from "../../domain/limits.ts";
import {
  type FoundValue,
  findInJson,
  wordsOfApproval,
} from "../../domain/search/searched-texts.ts";
import { isMatch, type Term } from "../../domain/search/words.ts";
import {
  type ListedRow,
  listedColumns,
  orderBy,
  rowOf,
  type Sought,
  type Terms,
  verified,
  walk,
} from "./list-terms.ts";
import { Pace } from "./pace.ts";
import {
  agentLexeme,
  approverLexeme,
  deciderLexeme,
  lexemeOf,
  seasonOf,
  statusLexeme,
} from "./search-lexemes.ts";
import { hasLargeJson, type SearchedRow, searchedColumns, toSearched } from "./searched-columns.ts";
import { statement } from "./statement.ts";

/** In the order of the list; one row more than the limit when there are more. */
export async function search(db: Queryable, terms: Terms, sought: Sought): Promise<ListedRow[]> {
  const seasons = await readSeasons(db, terms);
  const unindexed = await readUnindexed(db, terms, sought);
  const glance = await readGlance(db, terms, { sought, seasons });
  const isWhole = glance.found.length > terms.limit || !glance.isCutShort;
  const indexed = isWhole ? glance.found : await readIndexed(db, terms, { sought, seasons });
  return merged(terms, [...unindexed, ...indexed]);
}

/** Where in the JSON of these approvals the words were found, for those whose other columns don't show it. */
export async function findExcerpts(
  db: Queryable,
  { workspaceId, ids, words }: { workspaceId: string; ids: string[]; words: readonly Term[] },
): Promise<Map<string, FoundValue>> {
  const { rows } = await db.query<SearchedRow & { id: string }>(
    `select a.id, ${searchedColumns("small", excerptJsonBytesMax)}
     from unnest($2::text[]) as asked (id)
     cross join lateral (
       select a.* from approvals a where a.workspace_id = $1 and a.id = asked.id limit 1
     ) as a`,
    [workspaceId, ids],
  );
  const found = new Map<string, FoundValue>();
  const pace = new Pace();
  for (const row of rows) {
    const value = await pace.finish(findInJson(toSearched(row), words));
    if (value !== null) found.set(row.id, value);
  }
  return found;
}

/**
 * Whether a search among these ids may miss something: requests from before an upgrade are still to be indexed, or more
 * new ones than a search reads by itself, or larger ones. What lies outside is in no such list: in a busy workspace
 * something always waits to be indexed.
 */
export async function isBehind(
  db: Queryable,
  { workspaceId, ids }: Pick<Terms, "workspaceId" | "ids">,
): Promise<boolean> {
  const { rows } = await db.query<{ is_behind: boolean }>(
    `with newest as materialized (
       select q.workspace_id, q.approval_id as id, row_number() over (order by q.approval_id desc) as place
       from (
         select workspace_id, approval_id from search_queue
         where approval_id >= $2 and approval_id < $3
         order by approval_id desc limit ${searchQueueLookedAtMax + 1}
       ) as q
     ),
     ours as materialized (
       select id, max(place) as place from newest where workspace_id = $1
       group by id order by id desc limit ${unindexedSearchedMax + 1}
     )
      select exists (
          select from search_backlog where workspace_id = $1 and before_id > $2 and not has_words
        )
       or (select count(*) from newest) > ${searchQueueLookedAtMax}
       or (select count(*) from ours) > ${unindexedSearchedMax}
       or exists (select from ours where place > ${searchQueueGlance})
       or exists (
         select from ours cross join lateral (
           select from approvals a
           where a.workspace_id = $1 and a.id = ours.id and ${hasLargeJson(unindexedJsonBytesMax)}
           limit 1
         ) as large
       ) as is_behind`,
    [workspaceId, ids.from, ids.until],
  );
  return rows[0]?.is_behind ?? true;
}

/** `has_statuses` unless an upgrade has left some of its requests to be indexed once more. */
type Season = { season: string; number: number; indexed: number; has_statuses: boolean };
type Query = { sought: Sought; seasons: readonly Season[] };

/** The seasons with indexed approvals, in the order of the list. Pending ones can't be older than the oldest of them. */
async function readSeasons(
  db: Queryable,
  { workspaceId, ids, order }: Terms,
): Promise<readonly Season[]> {
  // As a pair, which only the index of statuses knows, and that one has them by age.
  const oldestPending = `
    (select a.id from approvals a
     where (a.status, a.workspace_id) >= ('PENDING', $1) and (a.status, a.workspace_id) <= ('PENDING', $1)
     order by a.status, a.workspace_id, a.id limit 1)`;
  const from = order === "expiry" ? `substr(coalesce(${oldestPending}, 'req_g'), 5, 5)` : "''";
  const { rows } = await db.query<Season>(
    `select season, number, indexed, season > coalesce(
         (select substr(before_id, 5, 5) from search_backlog where workspace_id = $1), ''
       ) as has_statuses
     from search_seasons
     where workspace_id = $1 and season between greatest($2, ${from}) and $3
     order by season ${order === "oldest" ? "" : "desc"}`,
    [workspaceId, seasonOf(ids.from), seasonOf(ids.until)],
  );
  return rows;
}

/** Approvals that were created or decided a moment ago, whose words no worker has written yet. */
async function readUnindexed(db: Queryable, terms: Terms, sought: Sought): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow & SearchedRow>(
    statement((bind) => {
      const workspace = bind(terms.workspaceId);
      return `
        with queued as materialized (
          select distinct id from (
            select q.workspace_id, q.approval_id as id from search_queue q
            where q.approval_id >= ${bind(terms.ids.from)} and q.approval_id < ${bind(terms.ids.until)}
            order by q.approval_id desc limit ${searchQueueGlance}
          ) as newest
          where workspace_id = ${workspace}
          order by id desc limit ${unindexedSearchedMax}
        )
        select ${listedColumns}, ${searchedColumns("small", unindexedJsonBytesMax)}
        from queued
        cross join lateral (
          select a.* from approvals a
          where a.workspace_id = ${workspace} and a.id = queued.id
            and ${verified(terms, bind).join(" and ")}
          limit 1
        ) as a`;
    }),
  );
  const found: ListedRow[] = [];
  const pace = new Pace();
  for (const row of rows) {
    const words = await pace.finish(wordsOfApproval(toSearched(row)));
    if (sought.words.every((term) => isMatch(term, words))) found.push(row);
  }
  return found;
}

/**
 * Looks at the first few approvals of the list alone. Common words fill a page from these, and fetching all that the
 * index knows of a common word would take long.
 */
async function readGlance(
  db: Queryable,
  terms: Terms,
  { sought, seasons }: Query,
): Promise<{ found: ListedRow[]; isCutShort: boolean }> {
  // Each season writes its words with its own number.
  const queries = Object.fromEntries(
    // The rows themselves tell their status.
    seasons.map(({ season, number }) => [season, queryOf(terms, { sought, number, statuses: [] })]),
  );
  const { rows } = await db.query<ListedRow & { seen: number }>(
    statement((bind) => {
      const workspace = bind(terms.workspaceId);
      return `
        with glance as materialized (${walk(terms, bind, bind(searchGlance))}),
        page as (
          select g.id, g.expires_at from glance as g
          cross join lateral (
            select w.words from approval_words w
            where w.workspace_id = g.workspace_id and w.approval_id = g.id
            limit 1
          ) as w
          where w.words @@ (${bind(queries)}::jsonb ->> substr(g.id, 5, 5))::tsquery
          order by ${orderBy(terms.order, "g")}
          limit ${bind(terms.limit + 1)}
        )
        select ${listedColumns}, seen
        from (select count(*)::int as seen from glance) as counted
        left join page on true
        left join ${rowOf("page", workspace)} on true
        order by ${orderBy(terms.order, "a")}`;
    }),
  );
  const found = rows.filter(({ id }) => id !== null);
  return { found, isCutShort: (rows[0]?.seen ?? 0) >= searchGlance };
}

/** Asks the index for a few seasons after the other, until the page is full. */
async function readIndexed(
  db: Queryable,
  terms: Terms,
  { sought, seasons }: Query,
): Promise<ListedRow[]> {
  const rows: ListedRow[] = [];
  // By expiry the first of the list may be in any season.
  const steps = terms.order === "expiry" ? [seasons] : inSteps(seasons);
  for (const step of steps) {
    const limit = terms.limit - rows.length;
    rows.push(...(await readStep(db, { ...terms, limit }, { sought, seasons: step })));
    if (rows.length > terms.limit) break;
  }
  return rows;
}

function inSteps(seasons: readonly Season[]): Season[][] {
  const steps: Season[][] = [];
  let room = 0;
  for (const season of seasons) {
    if (room <= 0) {
      steps.push([]);
      room = searchStepRequests;
    }
    steps.at(-1)?.push(season);
    room -= season.indexed;
  }
  return steps;
}

async function readStep(
  db: Queryable,
  terms: Terms,
  { sought, seasons }: Query,
): Promise<ListedRow[]> {
  if (seasons.length === 0) return [];
  const { order } = terms;
  const quick = { ...sought, words: quickWords(sought) };
  const isQuick = quick.words.length === sought.words.length;
  const queriesFor = (each: Sought) =>
    seasons.map(({ number, has_statuses: hasStatuses }) => {
      const statuses = hasStatuses ? indexedStatuses(terms) : [];
      return queryOf(terms, { sought: each, number, statuses });
    });
  const { rows } = await db.query<ListedRow>(
    statement((bind) => {
      const workspace = bind(terms.workspaceId);
      // Only the index of words is asked for matches, and each match is then looked at by itself, in the order of the
      // list, and no more of them than fill a page. Seasons are asked one by one: a query for all of them together is
      // checked as a whole for every match of any, and the planner may read the whole table for it. "is true" keeps the
      // planner from asking the index for all words.
      return `
        with matching as materialized (
          select w.workspace_id, w.approval_id as id
          from unnest(${bind(queriesFor(quick))}::tsquery[], ${bind(queriesFor(sought))}::tsquery[]) as season (quick, whole)
          cross join lateral (
            select w.workspace_id, w.approval_id from approval_words w
            where w.words @@ season.quick ${isQuick ? "" : "and (w.words @@ season.whole) is true"}
            offset 0
          ) as w
        ),
        page as (
          select a.id, a.expires_at from matching
          cross join lateral (
            select a.id, a.expires_at from approvals a
            where a.workspace_id = ${workspace} and a.id = matching.id
              and ${verified(terms, bind).join(" and ")}
            limit 1
          ) as a
          where matching.workspace_id = ${workspace}
          order by ${order === "expiry" ? orderBy(order, "a") : orderBy(order, "matching")}
          limit ${bind(terms.limit + 1)}
        )
        select ${listedColumns}
        from page cross join ${rowOf("page", workspace)}
        order by ${orderBy(order, "a")}`;
    }),
  );
  return rows;
}

/** Of a single letter the index knows very many words, so others are asked for if there are any. */
function quickWords({ words }: Sought): readonly Term[] {
  const longer = words.filter(({ word }) => word.length > 1);
  return longer.length === 0 ? words : longer;
}

/** The statuses that the index may have for the approvals of a list. Of an overdue one it has the status before. */
function indexedStatuses({ status, order }: Terms): ApprovalStatus[] {
  if (order === "expiry") return ["PENDING"];
  if (status === "EXPIRED") return ["EXPIRED", "PENDING"];
  return status === null ? [] : [status];
}

type SeasonQuery = { sought: Sought; number: number; statuses: readonly ApprovalStatus[] };

/** The query for one season. Filters are asked for together with the words: one may be rare where others are not. */
function queryOf(
  { agentName, approver }: Terms,
  { sought, number, statuses }: SeasonQuery,
): string {
  const names = [
    ...(agentName === null ? [] : [agentLexeme(agentName)]),
    ...(approver === null ? [] : [approverLexeme(approver)]),
    ...(sought.decidedBy === null ? [] : [deciderLexeme(sought.decidedBy)]),
  ];
  return [
    ...sought.words.map(({ word, isBeginning, glued = [] }) => {
      const asTyped = `${quoted(number, word)}${isBeginning ? ":*" : ""}`;
      return `(${[asTyped, ...glued.map((each) => `${quoted(number, each)}:*`)].join(" | ")})`;
    }),
    ...names.map((name) => quoted(number, name)),
    ...(statuses.length === 0
      ? []
      : [`(${statuses.map((status) => quoted(number, statusLexeme(status))).join(" | ")})`]),
  ].join(" & ");
}

function quoted(number: number, word: string): string {
  return `'${lexemeOf(number, word).replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** A row may have been found twice: in the index, and because it waits to be indexed again. */
function merged({ order }: Terms, rows: ListedRow[]): ListedRow[] {
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()];
  const byId = (one: ListedRow, other: ListedRow) => (one.id < other.id ? -1 : 1);
  return unique.sort((one, other) => {
    if (order === "newest") return byId(other, one);
    const ms = order === "oldest" ? 0 : one.expires_at.getTime() - other.expires_at.getTime();
    return ms === 0 ? byId(one, other) : ms;
  });
}
