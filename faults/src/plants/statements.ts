// Lets a plant change statements on their way to PostgreSQL.

import pg from "pg";

type Statement = { name?: string; text: string; values?: unknown[] };
type Ask = (statement: unknown, ...rest: unknown[]) => unknown;

/** `change` answers another statement, or what to do in its place, or null to leave it alone. */
export function changingStatements(
  change: (statement: Statement, ask: Ask) => Statement | Promise<unknown> | null,
): void {
  const { prototype } = pg.Client;
  const original = prototype.query as Ask;
  prototype.query = function query(this: pg.Client, statement: unknown, ...rest: unknown[]) {
    const ask = original.bind(this);
    if (typeof statement !== "object" || statement === null || !("text" in statement)) {
      return ask(statement, ...rest);
    }
    const changed = change(statement as Statement, ask);
    if (changed instanceof Promise) {
      // The pool asks with a callback.
      const done = rest.findLast((each) => typeof each === "function");
      if (done === undefined) return changed;
      changed.then((answer) => done(null, answer), done as (error: unknown) => void);
      return undefined;
    }
    return ask(changed ?? statement, ...rest);
  } as typeof prototype.query;
}
