// A process of its own that takes due steps, begins absences or sequences logs, and kills itself once a given number of
// its statements was answered. This file is both sides: tests call `runSteps`, and the process that it starts runs this
// same file.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { flushCompileCache } from "node:module";
import type pg from "pg";
import { type Database, openDatabase } from "../src/database/database.ts";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { beginAbsences } from "../src/operations/votings/begin-absences.ts";
import { takeSteps } from "../src/operations/votings/take-steps.ts";
import { sequenceAll } from "./log-audit.ts";
import { asServiceUrl } from "./test-database.ts";

const works = {
  takeSteps,
  beginAbsences,
  /** In small batches, so that there are many places to die at. */
  sequenceLogs: ({ db, keyring }: { db: Database; keyring: Keyring }) =>
    sequenceAll(db, { keyring, batch: 97 }),
};

export type StepRun = {
  databaseUrl: string;
  keyring: Keyring;
  work: keyof typeof works;
  /** Without it the process lives. */
  diesAfter?: number;
};

type Settings = Omit<StepRun, "keyring"> & { secretKey: string };

/** Says whether the work was finished; otherwise the process was killed. */
export async function runSteps({ keyring, ...rest }: StepRun): Promise<boolean> {
  const secretKey = keyring.current.keyObject.export().toString("base64");
  const databaseUrl = asServiceUrl(rest.databaseUrl);
  const settings: Settings = { ...rest, databaseUrl, secretKey };
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(settings)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code, signal] = await once(child, "exit");
  if (signal !== "SIGKILL" && code !== 0)
    throw new Error(`the worker ended with ${code ?? signal}`);
  return signal === null;
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? "") as Settings);

async function run({ databaseUrl, secretKey, work, diesAfter }: Settings): Promise<void> {
  const keyring = parseKeyring(secretKey) as Keyring;
  const connection = { connectionString: databaseUrl };
  const db = openDatabase({ connection, connectionsMax: 1, onIdleFault: () => {} });
  // A killed process would not leave its compiled code to the next one.
  flushCompileCache();
  if (diesAfter !== undefined) dieAfter(db, diesAfter);
  await works[work]({ db, keyring }, 10);
  await db.end();
}

type Ask = (...query: unknown[]) => Promise<unknown>;

/** Counts the answers to statements, within transactions and without. */
function dieAfter(db: Database, answersMax: number): void {
  let answers = 0;
  const counted =
    (ask: Ask): Ask =>
    async (...query) => {
      const answer = await ask(...query);
      answers += 1;
      if (answers === answersMax) process.kill(process.pid, "SIGKILL");
      return answer;
    };
  const connect = db.connect.bind(db) as () => Promise<pg.PoolClient>;
  const watched = new WeakSet<object>();
  const connectWatched = async () => {
    const client = await connect();
    if (!watched.has(client)) {
      watched.add(client);
      client.query = counted(client.query.bind(client) as Ask) as unknown as typeof client.query;
    }
    return client;
  };
  db.connect = connectWatched as unknown as Database["connect"];
  db.query = (async (...query: unknown[]) => {
    const client = await connectWatched();
    try {
      return await (client.query as unknown as Ask)(...query);
    } finally {
      client.release();
    }
  }) as unknown as Database["query"];
}
