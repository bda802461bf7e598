// Puts one node of the service together from what it works on.

import type { FastifyInstance } from "fastify";
import type pg from "pg";
import type { Logger } from "pino";
import type { Keyring } from "./domain/keyring.ts";
import type { RateLimit } from "./domain/rate-limit.ts";
import { buildApp } from "./http/app.ts";
import { routesOf } from "./http/routes.ts";
import { makeCreateApproval } from "./operations/create-approval.ts";
import { makeReadApproval } from "./operations/read-approval.ts";
import type { Database } from "./storage/database.ts";
import { ResolutionWatch } from "./storage/resolution-watch.ts";

export type ServiceOptions = {
  db: Database;
  /** For the one connection beside the pool that listens for decisions made elsewhere. */
  connection: pg.ClientConfig;
  keyring: Keyring;
  rateLimit: RateLimit | null;
  log: Logger;
  clock?: () => number;
  requestTimeoutMs?: number;
};

export type Service = { app: FastifyInstance; resolutions: ResolutionWatch };

export function assembleService(options: ServiceOptions): Service {
  const { db, connection, keyring } = options;
  const resolutions = new ResolutionWatch(db, connection);
  const routes = routesOf({
    db,
    createApproval: makeCreateApproval(db, keyring),
    readApproval: makeReadApproval(db),
    resolutions,
  });
  const app = buildApp({ ...options, routes });
  resolutions.start();
  // Waiting callers are answered first; then no call is under way and the database can be let go.
  app.addHook("preClose", () => resolutions.stop());
  return { app, resolutions };
}
