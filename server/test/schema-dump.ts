// The schema as text, read from PostgreSQL's catalogue: tables with their columns, constraints and indexes,
// functions and triggers. The embedded PostgreSQL brings no pg_dump, and this is all that we need of one.

import type { Queryable } from "../src/database/database.ts";

export async function dumpSchema(db: Queryable): Promise<string> {
  const parts = [
    "-- The schema that all migrations together make. Written by `npm run schema`; a test holds it to the truth.\n",
  ];
  for (const { name } of await rowsOf<{ name: string }>(db, functionsSql)) parts.push(`${name};\n`);
  for (const { name } of await rowsOf<{ name: string }>(db, tablesSql)) {
    parts.push(await dumpTable(db, name));
  }
  return parts.join("\n");
}

async function dumpTable(db: Queryable, table: string): Promise<string> {
  const columns = await rowsOf<{ line: string }>(db, columnsSql, [table]);
  const constraints = await rowsOf<{ line: string }>(db, constraintsSql, [table]);
  const indexes = await rowsOf<{ line: string }>(db, indexesSql, [table]);
  const triggers = await rowsOf<{ line: string }>(db, triggersSql, [table]);
  const body = [...columns, ...constraints].map(({ line }) => `  ${line}`).join(",\n");
  const rest = [...indexes, ...triggers].map(({ line }) => `${line};\n`).join("");
  return `create table ${table} (\n${body}\n);\n${rest}`;
}

async function rowsOf<Row extends object>(
  db: Queryable,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await db.query<Row>(sql, values)).rows;
}

const functionsSql = `
  select pg_get_functiondef(p.oid) as name from pg_proc p
  where p.pronamespace = 'public'::regnamespace order by p.proname`;

const tablesSql = `
  select c.relname as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`;

const columnsSql = `
  select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || case when a.attcollation <> t.typcollation then ' collate "' || l.collname || '"' else '' end
    || case when a.attnotnull then ' not null' else '' end
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    || case when a.attstorage <> t.typstorage then ' storage ' || a.attstorage::text else '' end as line
  from pg_attribute a
  join pg_type t on t.oid = a.atttypid
  left join pg_collation l on l.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
  order by a.attnum`;

// PostgreSQL 18 keeps not-null constraints in this catalogue too; the columns tell them already.
const constraintsSql = `
  select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) as line
  from pg_constraint where conrelid = $1::regclass and contype in ('p', 'u', 'c', 'f')
  order by contype desc, conname`;

const indexesSql = `
  select i.indexdef as line from pg_indexes i
  where i.schemaname = 'public' and i.tablename = $1
    and not exists (select from pg_constraint c where c.conname = i.indexname)
  order by i.indexname`;

const triggersSql = `
  select pg_get_triggerdef(oid) as line from pg_trigger
  where tgrelid = $1::regclass and not tgisinternal order by tgname`;
