// A database of its own for each test file, copied from the template that the test run has migrated.

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

const dropTriesMax = 100;
const dropPauseMs = 100;

export const templateName = "countersign_template";

/** Where the test run's PostgreSQL listens; set by scripts/test.ts. */
export function testDatabaseUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined) throw new Error("run the tests with `npm test -- FILE`");
  return url;
}

/** The role as which the service runs on that PostgreSQL, set by scripts/test.ts; null where there is no such role. */
export function testServiceRole(): { name: string; password: string } | null {
  const { TEST_SERVICE_ROLE: name = "", TEST_SERVICE_PASSWORD: password = "" } = process.env;
  return name === "" ? null : { name, password };
}

export type TestDatabase = {
  /** The owner's, with which a test looks, and sets what no service may. */
  connection: pg.ClientConfig;
  url: string;
  /** The role's as which the service runs. */
  serviceConnection: pg.ClientConfig;
  drop(): Promise<void>;
};

export async function makeTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const template = isEmpty ? "template0" : templateName;
  await asAdministrator(
    `create database ${name} template ${template}`,
    // Rights on tables come with the template, those on the database itself don't.
    `revoke temporary on database ${name} from public`,
  );
  const url = withDatabase(testDatabaseUrl(), name);
  return {
    connection: { connectionString: url },
    url,
    serviceConnection: { connectionString: isEmpty ? url : asServiceUrl(url) },
    drop: () => drop(name),
  };
}

/**
 * Force ends connections that a test cut off on purpose. It may not end an autovacuum worker, which is the
 * superuser's, but that goes away by itself.
 */
async function drop(name: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await asAdministrator(`drop database ${name} with (force)`);
      return;
    } catch (error) {
      const isRefused = error instanceof pg.DatabaseError && error.code === "42501";
      if (!isRefused || tries === dropTriesMax) throw error;
      await pause(dropPauseMs);
    }
  }
}

/** The same server and role, another database. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** The same database as the service's role, where it is a database of the test run's own. */
export function asServiceUrl(url: string): string {
  const role = testServiceRole();
  const own = new URL(testDatabaseUrl());
  const changed = new URL(url);
  const isOwn = changed.username === own.username && changed.password === own.password;
  if (role === null || !isOwn) return url;
  changed.username = role.name;
  changed.password = role.password;
  return changed.href;
}

/** Whether this is a pooled test run. */
export const isPooled = (process.env.TEST_POOLER_HOST ?? "") !== "";

/**
 * An address of the service's led through the pooler of a pooled test run (scripts/test.ts); null in other runs, and for
 * another PostgreSQL or role than the one in front of which the pooler stands.
 */
export function throughPooler(url: string | undefined): string | null {
  const { TEST_POOLER_HOST: host = "", TEST_POOLER_PORT: port = "" } = process.env;
  // An address of several hosts is no URL.
  if (!isPooled || url === undefined || !URL.canParse(url)) return null;
  const own = new URL(asServiceUrl(testDatabaseUrl()));
  const led = new URL(url);
  own.pathname = led.pathname;
  if (led.href !== own.href) return null;
  led.searchParams.set("host", host);
  led.searchParams.set("port", port);
  return led.href;
}

async function asAdministrator(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: testDatabaseUrl() });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}
