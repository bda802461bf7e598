// The settings of a session that our statements rely on, and whether PostgreSQL has them. They are sent when a
// connection begins, but what stands between may drop them, and an address may say otherwise.

import { OperatorFault } from "../domain/operator-fault.ts";

export type Settings = Readonly<Record<string, string>>;

/** For every connection, even if an operator set others for the role or the database. */
export const neededSettings: Settings = {
  default_transaction_isolation: "read committed",
  datestyle: "ISO",
  timezone: "UTC",
  standard_conforming_strings: "on",
  // A warning says that a commit was not replicated.
  client_min_messages: "notice",
  // What migrates may take long. Pools have limits of their own.
  statement_timeout: "0",
  idle_in_transaction_session_timeout: "0",
};

/** A connection that can't do the service's work as it should. Nothing else than an operator can mend it. */
export class UnfitConnection extends OperatorFault {
  override name = "UnfitConnection";
}

export type Shown = { name: string; value: string | null };

/** As PostgreSQL's `-c` takes them. */
export function toOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`)
    .join(" ");
}

/** Those that a session lacks, as `enable_seqscan is on, not off`. */
export function lackedSettings(wanted: Settings, shown: readonly Shown[]): string[] {
  const values = new Map(shown.map(({ name, value }) => [name, value ?? ""]));
  return Object.entries(wanted)
    .filter(([name, value]) => !isMet(name, value, values.get(name) ?? ""))
    .map(([name, value]) => `${name} is ${values.get(name) ?? "unknown"}, not ${value}`);
}

function isMet(name: string, wanted: string, shown: string): boolean {
  if (name === "datestyle") return shown.startsWith(wanted);
  if (!name.endsWith("_timeout")) return shown === wanted;
  // A shorter limit is the operator's choice, as is one where we need none.
  return wanted === "0" || (shown !== "0" && toMs(shown) <= toMs(wanted));
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function toMs(duration: string): number {
  const [, count, unit = "ms"] = /^([0-9]+)([a-z]*)$/.exec(duration) ?? [];
  return Number(count) * (unitMs[unit] ?? 1);
}

const settingsGuide = 'docs/operating.md, "Through a pooler"';

/** PgBouncer's answer to settings that it can't keep apart. Other faults of its protocol pass by themselves. */
export function explainRefusedStart(error: unknown): unknown {
  if (!(error instanceof Error) || !/unsupported startup parameter/.test(error.message)) {
    return error;
  }
  return new UnfitConnection(
    `A pooler stands in front of the database and refuses the settings that this connection needs (${error.message}). Give PostgreSQL's own address in DATABASE_DIRECT_URL; DATABASE_URL may then lead to the pooler (${settingsGuide}).`,
    { cause: error },
  );
}

export function unfitSession(lacked: readonly string[], isBehindPooler: boolean): UnfitConnection {
  const what = `A connection to the database lacks settings that the service needs: ${lacked.join("; ")}.`;
  return new UnfitConnection(
    isBehindPooler
      ? `${what} A pooler in front of it drops them. Give PostgreSQL's own address in DATABASE_DIRECT_URL (${settingsGuide}).`
      : `${what} Take these out of its address.`,
  );
}

/** Where a session of a pooler's is at home. */
export type Place = { role: string; database: string };

/** With what makes every session behind the pooler right. */
export function unfitBehindPooler(
  lacked: readonly string[],
  wanted: Settings,
  { role, database }: Place,
): UnfitConnection {
  const statements = Object.entries(wanted)
    .filter(([name]) => lacked.some((lack) => lack.startsWith(`${name} is `)))
    .map(
      ([name, value]) =>
        `alter role ${quoted(role)} in database ${quoted(database)} set ${name} = '${value}';`,
    );
  return new UnfitConnection(
    `DATABASE_URL leads through a pooler, where settings hold only if the role has them, and it lacks: ${lacked.join("; ")}. Run this at PostgreSQL itself, as that role or an administrator, and then RECONNECT at the pooler: ${statements.join(" ")} (${settingsGuide})`,
  );
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
