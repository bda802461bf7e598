// Somebody at the dashboard: signs in, and calls as its page does.

import assert from "node:assert/strict";
import type { Database } from "../src/database/database.ts";
import type { Role } from "../src/domain/workspace/role.ts";
import { makeSignInLink } from "../src/operations/people/sign-in.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { type TestNode, testPublicUrl } from "./test-service.ts";

export type DashboardReply = {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape the contract's types describe
  json: any;
};

/** The headers that a browser sends with a call of our own page. */
export const fromOurPage = {
  origin: new URL(testPublicUrl).origin,
  "sec-fetch-site": "same-origin",
};

export type DashboardCallOptions = {
  cookie?: string | null;
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
};

export async function callDashboard(
  { app }: Pick<TestNode, "app">,
  name: keyof DashboardApi,
  { cookie, params = {}, query = {}, body, headers = fromOurPage }: DashboardCallOptions = {},
): Promise<DashboardReply> {
  const [method, pattern = ""] = name.split(" ") as ["GET" | "POST", string];
  const path = pattern.replaceAll(/:(\w+)/g, (_, key: string) => {
    const value = params[key];
    assert.ok(value !== undefined, `no ${key} for ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  const reply = await app.inject({
    method,
    url: `/app/api${path}${search === "" ? "" : `?${search}`}`,
    headers: { ...headers, ...(cookie === undefined || cookie === null ? {} : { cookie }) },
    ...(method === "GET" ? {} : { payload: JSON.stringify(body ?? {}) }),
  });
  return {
    status: reply.statusCode,
    headers: reply.headers as Record<string, string>,
    json: reply.body.startsWith("{") ? reply.json() : null,
  };
}

/** The cookie of somebody who has just signed in. They must be a member somewhere. */
export async function signIn(node: TestNode, email: string): Promise<string> {
  const token = await makeSignInLink(node.db, node.keyring, email);
  const reply = await callDashboard(node, "POST /sign-in/link", { body: { token } });
  assert.equal(reply.status, 200, JSON.stringify(reply.json));
  return cookieOf(reply);
}

export function cookieOf({ headers }: DashboardReply): string {
  const [cookie = ""] = String(headers["set-cookie"]).split(";");
  return cookie;
}

export async function makeMember(
  db: Database,
  member: { workspaceId: string; email: string; role: Role; hasJoined?: boolean },
): Promise<string> {
  const { workspaceId, email, role, hasJoined = true } = member;
  const { rows } = await db.query<{ id: string }>(
    `insert into members (workspace_id, email, role, joined_at)
     values ($1, $2, $3, case when $4 then now_ms() end) returning id`,
    [workspaceId, email, role, hasJoined],
  );
  return (rows[0] as { id: string }).id;
}
