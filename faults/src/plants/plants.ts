// Bugs that are planted into the real service, one by one: a checker that misses one is worthless.

import { fileURLToPath } from "node:url";
import type { World } from "../world/world.ts";

export type Plant = {
  name: string;
  /** Loaded into each process of the service before its program. */
  preload: string | null;
  /** Done to the database once all is at rest, as by a bug or a hand that the triggers don't stop. */
  spoil: ((world: World) => Promise<void>) | null;
  /** A worker stands still for longer than its lease, with an attempt under way. */
  halts: boolean;
  /** The promise that the checker must find broken. */
  promise: string;
};

const none = { preload: null, spoil: null, halts: false };

export const plants: Plant[] = [
  {
    ...{ ...none, name: "fencing off", preload: preloadOf("fencing-off"), halts: true },
    promise: "three attempts, and one more for each crash",
  },
  {
    ...{ ...none, name: "a delivery dropped", preload: preloadOf("delivery-dropped") },
    promise: "attempts say what receivers saw",
  },
  {
    ...{ ...none, name: "a delivery sent twice", preload: preloadOf("delivery-twice") },
    promise: "attempts say what receivers saw",
  },
  {
    ...{ ...none, name: "a byte flipped", preload: preloadOf("byte-flipped") },
    promise: "webhooks verify and have the expected bytes",
  },
  {
    ...{ ...none, name: "a 201 before its commit", preload: preloadOf("early-answer") },
    promise: "an acknowledged create is there",
  },
  {
    ...{ ...none, name: "a secret in the log", preload: preloadOf("secret-logged") },
    promise: "no secret in any log",
  },
  {
    ...{ ...none, name: "a row edited" },
    spoil: spoiling(`update approvals set payload = replace(payload, '"order"', '"0rder"')
      where id = (select id from approvals where status = 'APPROVED' limit 1)`),
    promise: "bytes are as they were sent",
  },
  {
    ...{ ...none, name: "approved by nobody" },
    spoil: spoiling(`update approvals set status = 'APPROVED', resolved_at = created_at,
      resolved_by_email = approver_email where id = (
        select id from approvals where status = 'REJECTED' limit 1)`),
    promise: "nothing is decided but by a person",
  },
  {
    ...{ ...none, name: "two outcomes" },
    spoil: spoiling(`insert into events (workspace_id, approval_id, kind)
      select workspace_id, approval_id, 'request.rejected' from events
      where kind = 'request.approved' limit 1`),
    promise: "one final state and one event",
  },
  {
    ...{ ...none, name: "a delivery forgotten" },
    spoil: spoiling(`update deliveries set state = 'due', due_at = now() - interval '5 minutes',
      lease_token = null, leased_until = null, finished_at = null
      where id = (select id from deliveries where endpoint_id is not null limit 1)`),
    promise: "nothing is stuck a minute after the faults",
  },
];

function preloadOf(name: string): string {
  return fileURLToPath(new URL(`${name}.ts`, import.meta.url));
}

/** Past all triggers. */
function spoiling(sql: string): (world: World) => Promise<void> {
  return async ({ postgres }) => {
    const client = await postgres.superuser();
    try {
      await client.query("set session_replication_role = replica");
      const { rowCount } = await client.query(sql);
      if (rowCount !== 1) throw new Error(`${rowCount} rows were spoilt`);
    } finally {
      await client.end();
    }
  };
}
