// Which faults come when, by the seed alone. Each has an end, and leaves the world as it found it.

import { setTimeout as pause } from "node:timers/promises";
import type { MailTrouble } from "./actors/mailbox.ts";
import type { Trouble } from "./world/cable.ts";
import { type Point, points } from "./world/points.ts";
import { type Chance, chanceOf } from "./world/random.ts";
import type { World } from "./world/world.ts";

/** A fault that can't begin or end says so by an error. */
export type Fault = {
  name: string;
  /** What it is done to, for the report. */
  target: string;
  seconds: number;
  begin(world: World): Promise<void> | void;
  end?(world: World): Promise<void> | void;
  /** Asked after its end, of faults that may meet nothing. */
  hadEffect?(world: World): boolean;
};

export type Planned = { atMs: number; fault: Fault };

const firstAtMs = 3_000;
const restMsMin = 1_500;
const restMsMax = 6_000;
/** Longer than a lease of 30 seconds. */
const haltedSeconds = 36;
const hour = 3_600_000;
const minute = 60_000;

/** Every kind whose name has `only` comes before one comes twice. The last ends before the time is over. */
export function planOf(seed: number, forMs: number, only = ""): Planned[] {
  const chance = chanceOf(seed);
  const wanted = kindsOfFaults.filter((kind) => kind(chanceOf(seed)).name.includes(only));
  if (wanted.length === 0) return [];
  const planned: Planned[] = [];
  let kinds: ((chance: Chance) => Fault)[] = [];
  let atMs = firstAtMs;
  for (;;) {
    if (kinds.length === 0) kinds = shuffled(wanted, chance);
    const fault = (kinds.pop() as (typeof wanted)[number])(chance);
    const endMs = atMs + 1_000 * fault.seconds;
    if (endMs > forMs) return planned;
    planned.push({ atMs, fault });
    // Now and then two overlap.
    const rest = restMsMin + chance.whole(restMsMax - restMsMin);
    atMs = chance.isTrue(0.2) ? atMs + rest : endMs + rest;
  }
}

const processes = [0, 1, 2, 3];
const apis = [0, 1];
const workers = [2, 3];

function nodeName(n: number): string {
  return ["api 1", "api 2", "worker 1", "worker 2"][n] ?? "";
}

const kindsOfFaults: ((chance: Chance) => Fault)[] = [
  (chance) => killed(chance.oneOf(apis)),
  (chance) => killed(chance.oneOf(workers)),
  () => ({
    ...{ name: "kill -9", target: "every process at once", seconds: 1 },
    begin: ({ nodes }) => {
      for (const node of nodes) node.signal("SIGKILL");
    },
  }),
  ...points.map((point) => (chance: Chance) => killedAt(point, chance)),
  (chance) => stopped(chance.oneOf(processes)),
  (chance) => halted(chance.oneOf(workers), haltedSeconds),
  (chance) => halted(chance.oneOf(apis), 8),
  () => crashed("SIGQUIT", "immediate stop"),
  () => crashed("SIGKILL", "kill -9"),
  () => ({
    ...{ name: "backends terminated", target: "PostgreSQL", seconds: 4 },
    begin: async (world) => {
      for (let times = 0; times < 4; times += 1) {
        await asSuperuser(
          world,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name like 'countersign%' and usename = 'countersign_service'`,
        );
        await pause(700);
      }
    },
  }),
  () => usedUp(),
  () => lockedTables(),
  () => fullDisk(),
  (chance) => clockOff(chance.oneOf(processes), chance.oneOf([-hour, hour, -minute, minute])),
  ...(["cut", "slow", "drip", "half closed", "black hole"] as const).flatMap((trouble) => [
    (chance: Chance) => cable(chance.oneOf(processes), trouble, 6 + chance.whole(8)),
  ]),
  () => ({
    ...{ name: "network: cut", target: "between all processes and PostgreSQL", seconds: 5 },
    begin: ({ cables }) => setAll(cables, "cut"),
    end: ({ cables }) => setAll(cables, "none"),
  }),
  (chance) => cable(chance.oneOf(processes), "deaf", 20),
  ...(["cut", "slow", "black hole"] as const).map((trouble) => () => ({
    ...{ name: `network: ${trouble}`, target: "between workers and receivers", seconds: 8 },
    begin: ({ receiverCable }: World) => receiverCable.set(trouble),
    end: ({ receiverCable }: World) => receiverCable.set("none"),
  })),
  ...(["later", "never", "cut after data", "silent"] as const).map(
    (trouble) => () => mailTrouble(trouble),
  ),
];

function killed(n: number): Fault {
  return {
    ...{ name: "kill -9", target: nodeName(n), seconds: 1 },
    begin: ({ nodes }) => nodes[n]?.signal("SIGKILL"),
  };
}

function killedAt(point: Point, chance: Chance): Fault {
  const n = chance.oneOf(point.role === "api" ? apis : workers);
  let starts = 0;
  return {
    ...{ name: `kill -9 when ${point.name}`, target: nodeName(n), seconds: 8 },
    begin: ({ nodes }) => {
      starts = nodes[n]?.starts ?? 0;
      nodes[n]?.killAt(point);
    },
    end: ({ nodes }) => nodes[n]?.killAt(null),
    hadEffect: ({ nodes }) => nodes[n]?.starts !== starts || !nodes[n].isRunning,
  };
}

function stopped(n: number): Fault {
  return {
    ...{ name: "SIGTERM", target: nodeName(n), seconds: 2 },
    begin: ({ nodes }) => nodes[n]?.signal("SIGTERM"),
  };
}

function halted(n: number, seconds: number): Fault {
  return {
    ...{ name: "SIGSTOP", target: nodeName(n), seconds },
    begin: ({ nodes }) => nodes[n]?.signal("SIGSTOP"),
    end: ({ nodes }) => nodes[n]?.signal("SIGCONT"),
  };
}

function crashed(signal: "SIGQUIT" | "SIGKILL", name: string): Fault {
  return {
    ...{ name, target: "PostgreSQL", seconds: 3 },
    begin: ({ postgres }) => postgres.crash(signal),
    end: ({ postgres }) => postgres.untilUp(),
  };
}

function usedUp(): Fault {
  const held: { end(): Promise<void> }[] = [];
  return {
    ...{ name: "connections used up", target: "PostgreSQL", seconds: 8 },
    begin: async ({ postgres }) => {
      // The superuser's own places are free to the end, and these take them.
      for (;;) {
        const client = await postgres.superuser().catch(() => null);
        if (client === null) return;
        held.push(client);
      }
    },
    end: async () => {
      await Promise.all(held.map((client) => client.end().catch(() => {})));
    },
  };
}

function lockedTables(): Fault {
  return {
    ...{ name: "row locks held", target: "PostgreSQL", seconds: 7 },
    begin: async ({ postgres }) => {
      const client = await postgres.superuser();
      await client.query("begin");
      await client.query("select from approvals where status = 'PENDING' limit 200 for update");
      // The locks go with the connection.
      setTimeout(() => void client.end().catch(() => {}), 6_000);
    },
  };
}

function fullDisk(): Fault {
  return {
    ...{ name: "disk full", target: "PostgreSQL", seconds: 6 },
    begin: ({ postgres }) => postgres.disk?.fill(),
    end: async ({ postgres }) => {
      postgres.disk?.free();
      await postgres.untilUp();
    },
    hadEffect: ({ postgres }) => postgres.disk !== null,
  };
}

function clockOff(n: number, ms: number): Fault {
  const seconds = ms / 1_000;
  return {
    name: `clock ${seconds > 0 ? "ahead" : "behind"} by ${Math.abs(seconds)} s`,
    ...{ target: nodeName(n), seconds: 20 },
    begin: ({ nodes }) => {
      nodes[n]?.shiftClock(ms);
      nodes[n]?.signal("SIGTERM");
    },
    end: ({ nodes }) => {
      nodes[n]?.shiftClock(0);
      nodes[n]?.signal("SIGTERM");
    },
  };
}

function cable(n: number, trouble: Trouble, seconds: number): Fault {
  return {
    ...{ name: `network: ${trouble}`, target: `between ${nodeName(n)} and PostgreSQL`, seconds },
    begin: ({ cables }) => cables[n]?.set(trouble),
    end: ({ cables }) => cables[n]?.set("none"),
  };
}

function mailTrouble(trouble: MailTrouble): Fault {
  return {
    ...{ name: `mail server: ${trouble}`, target: "mailbox", seconds: 8 },
    begin: ({ mailbox }) => mailbox.set(trouble),
    end: ({ mailbox }) => mailbox.set("none"),
  };
}

function setAll(cables: World["cables"], trouble: Trouble): void {
  for (const each of cables) each.set(trouble);
}

async function asSuperuser({ postgres }: World, sql: string): Promise<void> {
  const client = await postgres.superuser();
  await client.query(sql).finally(() => client.end().catch(() => {}));
}

function shuffled<Value>(values: readonly Value[], chance: Chance): Value[] {
  const rest = [...values];
  const mixed: Value[] = [];
  while (rest.length > 0) mixed.push(...rest.splice(chance.whole(rest.length), 1));
  return mixed;
}
