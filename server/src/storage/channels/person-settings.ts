// The person_settings table: how somebody wants to be asked. Who has chosen nothing has no row.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { QuietHours } from "../../domain/channels/quiet-hours.ts";

export type PersonSettings = {
  /** Null: mail is sent at once. */
  mailAfterMinutes: number | null;
  usesSlack: boolean;
  quiet: QuietHours | null;
};

const unchosen: PersonSettings = { mailAfterMinutes: null, usesSlack: true, quiet: null };

export async function find(db: Queryable, email: string): Promise<PersonSettings> {
  const { rows } = await db.query<{
    mail_after_minutes: number | null;
    uses_slack: boolean;
    quiet_from: string | null;
    quiet_until: string | null;
    time_zone: string | null;
  }>(
    `select mail_after_minutes, uses_slack, to_char(quiet_from, 'HH24:MI') as quiet_from,
       to_char(quiet_until, 'HH24:MI') as quiet_until, time_zone
     from person_settings where email = lower($1)`,
    [email],
  );
  const [row] = rows;
  if (row === undefined) return unchosen;
  const { quiet_from: from, quiet_until: until, time_zone: timeZone } = row;
  return {
    mailAfterMinutes: row.mail_after_minutes,
    usesSlack: row.uses_slack,
    quiet: from === null || until === null || timeZone === null ? null : { from, until, timeZone },
  };
}

/** False, and nothing is kept, when the database doesn't know the time zone: it could not tell when it is quiet. */
export async function put(
  tx: Transaction,
  email: string,
  { mailAfterMinutes, usesSlack, quiet }: PersonSettings,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into person_settings (email, mail_after_minutes, uses_slack, quiet_from, quiet_until, time_zone)
     select lower($1), $2::smallint, $3::boolean, $4::time, $5::time, $6::text
     where $6::text is null or exists (select from pg_timezone_names where name = $6)
     on conflict (email) do update set mail_after_minutes = excluded.mail_after_minutes,
       uses_slack = excluded.uses_slack, quiet_from = excluded.quiet_from, quiet_until = excluded.quiet_until,
       time_zone = excluded.time_zone, updated_at = now_ms()`,
    [
      ...[email, mailAfterMinutes, usesSlack],
      ...[quiet?.from ?? null, quiet?.until ?? null, quiet?.timeZone ?? null],
    ],
  );
  return rowCount === 1;
}
