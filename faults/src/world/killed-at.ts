// Loaded into a process before its program: on word from outside it kills itself the next time it gets to a named point.

import pg from "pg";
import type { Point } from "./points.ts";

type Statement = string | { name?: string; text?: string };
type Query = (this: pg.Client, statement: Statement, ...rest: unknown[]) => unknown;

let point: Point | null = null;
/** The connections whose next commit is the point. */
const awaited = new WeakSet<pg.Client>();

process.on("message", (message: Point | null) => {
  point = message;
});
// It is no reason to stay.
process.channel?.unref();

const { prototype } = pg.Client;
const original = prototype.query as Query;
prototype.query = function query(this: pg.Client, statement: Statement, ...rest: unknown[]) {
  if (point === null) return original.call(this, statement, ...rest);
  const isItsCommit = awaited.has(this) && statement === "commit";
  const isThere = typeof statement === "object" && statement.name?.startsWith(point.statement);
  if (isThere && point.when === "sending") die();
  if (isThere && point.when === "committed") awaited.add(this);
  const isLast = isItsCommit || (isThere && point.when === "answered");
  return isLast
    ? dyingWhenAnswered(this, statement, rest)
    : original.call(this, statement, ...rest);
} as typeof prototype.query;

function dyingWhenAnswered(client: pg.Client, statement: Statement, rest: unknown[]): unknown {
  const done = rest.findIndex((each) => typeof each === "function");
  if (done === -1) {
    const answer = original.call(client, statement, ...rest) as Promise<unknown>;
    // An error is no answer: the point was not reached.
    void Promise.resolve(answer).then(die, () => {});
    return answer;
  }
  const heard = rest[done] as (error: unknown, result: unknown) => void;
  const dying = (error: unknown, result: unknown) => {
    if (!error) die();
    heard(error, result);
  };
  return original.call(client, statement, ...rest.with(done, dying));
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}
