// The ceiling: the service's own statements, run by PostgreSQL's own benchmark program.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Connection } from "./service.ts";
import type { Statement } from "./workloads.ts";

const runSecondsMax = 30;
const keyBytes = 32;
const debianDirectory = "/usr/lib/postgresql";

export async function findPgbench(): Promise<string | null> {
  const versions = await readdir(debianDirectory).catch(() => []);
  const directories = [
    ...versions
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(debianDirectory, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return directories.map((each) => join(each, "pgbench")).find((each) => existsSync(each)) ?? null;
}

export type PgbenchRun = {
  program: string;
  connection: Connection;
  statements: Statement[];
  clients: number;
  measureSeconds: number;
};

/** How often a second the statements were run, by clients with a connection each. */
export async function runPgbench(run: PgbenchRun, signal: AbortSignal): Promise<number> {
  const { program, connection, clients } = run;
  const directory = await mkdtemp(join(tmpdir(), "countersign-pgbench-"));
  try {
    const scripts = run.statements.map((statement, index) => ({
      ...toScript(statement, index),
      file: join(directory, `${index}.sql`),
    }));
    for (const { file, text } of scripts) await writeFile(file, text);
    const options = [
      ...["--no-vacuum", "--protocol=prepared", "--progress=1", `--time=${runSecondsMax}`],
      ...[`--client=${clients}`, `--jobs=${Math.min(clients, availableParallelism())}`],
      ...["-h", connection.host, "-p", `${connection.port}`, "-U", connection.user],
      ...scripts.flatMap(({ file, variables }) => [`--file=${file}`, ...variables]),
    ];
    const pgbench = spawn(program, [...options, connection.database], {
      env: { LC_ALL: "C", PGPASSWORD: connection.password },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const exited = once(pgbench, "exit");
    const stop = () => void pgbench.kill();
    signal.addEventListener("abort", stop);
    try {
      return await readProgress(pgbench.stderr, run);
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
      await exited;
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** pgbench reports every second; what it says while its connections open and warm up does not count. */
async function readProgress(stderr: Readable, { clients, measureSeconds }: PgbenchRun) {
  let secondsToSkip = clients < 64 ? 1 : 2;
  let reportedAt = 0;
  let seconds = 0;
  let count = 0;
  let said = "";
  for await (const line of createInterface({ input: stderr })) {
    said += `${line}\n`;
    const report = /^progress: ([\d.]+) s, ([\d.]+) tps/.exec(line)?.slice(1).map(Number);
    if (report === undefined) continue;
    const [at = 0, perSecond = 0] = report;
    const elapsed = at - reportedAt;
    reportedAt = at;
    if (perSecond === 0) continue;
    secondsToSkip -= 1;
    if (secondsToSkip >= 0) continue;
    seconds += elapsed;
    count += elapsed * perSecond;
    if (secondsToSkip === -measureSeconds) return count / seconds;
  }
  throw new Error(`pgbench ended early. It said: ${said}`);
}

/** The statement with variables as parameters. A variable cannot be null, so nulls are written out. */
function toScript({ text, values, varying }: Statement, index: number) {
  const name = (at: number) => `s${index}_p${at}`;
  const sql = text.replaceAll(/\$(\d+)/g, (_, number: string) => {
    const at = Number(number) - 1;
    if (at === varying?.digestsAt) return "array[sha256(int8send(:random))]";
    if (at === varying?.keyAt) return `substr(:${name(at)}::bytea, :key, ${keyBytes})`;
    return values[at] === null ? "null" : `:${name(at)}`;
  });
  if (varying === null) return { text: `${sql};\n`, variables: values.map(define) };
  const { keyAt, keys } = varying;
  const random = `\\set random random(1, ${2n ** 63n - 1n})\n`;
  const key = `\\set key 1 + ${keyBytes} * (:client_id % ${keys.length})\n`;
  const variables = values.with(keyAt, Buffer.concat(keys)).map(define);
  return { text: `${random}${key}${sql};\n`, variables };

  function define(value: unknown, at: number): string {
    return `--define=${name(at)}=${toText(value)}`;
  }
}

/** PostgreSQL's text form of a parameter. */
function toText(value: unknown): string {
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  if (!Array.isArray(value)) return String(value);
  const items = value.map((item) => `"${toText(item).replaceAll(/["\\]/g, "\\$&")}"`);
  return `{${items.join(",")}}`;
}
