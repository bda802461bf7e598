// A workspace with one of everything that a call of the dashboard can name, and a form for each call.

import type { Database } from "../src/database/database.ts";
import { issueClientId } from "../src/domain/access/oauth.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { makeMember } from "./test-dashboard.ts";
import { makeWorkspace, minimalBody, type TestNode, testKeyring } from "./test-service.ts";
import { makeEndpoint } from "./test-worker.ts";

export async function makeFurnished(service: TestNode) {
  const { db } = service;
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { json: request } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const endpoint = await makeEndpoint(db, workspaceId, "https://hooks.example/one");
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const memberId = await makeMember(db, {
    workspaceId,
    email: `member@${workspaceId}.example`.replaceAll("_", "-"),
    role: "viewer",
  });
  const {
    rows: [made],
  } = await db.query(
    `with grouped as (
       insert into groups (workspace_id, key, name) values ($1, 'payers', 'Payers') returning id
     ), member as (
       insert into group_members (workspace_id, group_id, email)
       select $1, id, 'ann@example.com' from grouped
     ), away as (
       insert into absences (workspace_id, person, email, delegate_email, starts_at, ends_at)
       values ($1, 'ann@example.com', 'ann@example.com', 'ben@example.com', now_ms(), now_ms() + interval '1 day')
       returning id
     )
     select grouped.id as "groupId",
       (select id from away) as "absenceId",
       (select id from api_keys where workspace_id = $1 limit 1) as "keyId",
       (select id from deliveries where workspace_id = $1 and endpoint_id is not null limit 1) as "deliveryId"
     from grouped`,
    [workspaceId],
  );
  const ids = { requestId: request.id, endpointId: endpoint.id, memberId, ...made };
  return { workspaceId, key, ids: ids as Record<string, string> };
}

/** As a client asks that has registered. */
function question(): string {
  const redirectUri = "https://app.example/back";
  const client = { name: "An app", redirectUris: [redirectUri] };
  return new URLSearchParams({
    response_type: "code",
    client_id: issueClientId(testKeyring, client),
    redirect_uri: redirectUri,
    code_challenge: "a".repeat(43),
    code_challenge_method: "S256",
  }).toString();
}

/** A body that is right for its call, as far as one can be that changes little. */
export const bodies: Partial<Record<keyof DashboardApi, object>> = {
  "POST /workspaces/:workspaceId/connections": { asked: question() },
  "POST /workspaces/:workspaceId/settings": { expiryMinutes: 60 },
  "POST /workspaces/:workspaceId/proof": { receiptHours: 48 },
  "POST /workspaces/:workspaceId/requests/cancel": { ids: [`req_${"0".repeat(32)}`] },
  "POST /workspaces/:workspaceId/requests/cancel-matching": { upTo: `req_${"f".repeat(32)}` },
  "POST /workspaces/:workspaceId/endpoints": { url: "https://93.184.215.14/x", eventKinds: null },
  "POST /workspaces/:workspaceId/endpoints/:endpointId": { eventKinds: ["request.approved"] },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/disable": { reason: "not wanted" },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/resend-failed": {
    since: "2026-01-01T00:00:00.000Z",
  },
  "POST /workspaces/:workspaceId/keys": { name: "New" },
  "POST /workspaces/:workspaceId/keys/:keyId": { defaultApprover: "ann@example.com" },
  "POST /workspaces/:workspaceId/groups": { key: "new", name: "New", members: [] },
  "POST /workspaces/:workspaceId/groups/:groupId": { name: "Renamed" },
  "POST /workspaces/:workspaceId/groups/:groupId/signature": { requiresSignature: true },
  "POST /workspaces/:workspaceId/groups/:groupId/members": { email: "ben@example.com" },
  "POST /workspaces/:workspaceId/groups/:groupId/members/remove": { email: "ann@example.com" },
  "POST /workspaces/:workspaceId/groups/:groupId/channels": { mailAfterMinutes: 10 },
  "POST /workspaces/:workspaceId/slack": {
    ...{ mode: "socket", botToken: "xoxb-none", appToken: "xapp-none" },
    ...{ matchesEmail: false, showsPayload: true },
  },
  "POST /workspaces/:workspaceId/slack/settings": { matchesEmail: false, showsPayload: true },
  "POST /workspaces/:workspaceId/slack/test": { to: null },
  "POST /workspaces/:workspaceId/members": { email: "cy@example.com", role: "viewer" },
  "POST /workspaces/:workspaceId/members/:memberId/role": { role: "admin" },
  "POST /workspaces/:workspaceId/members/:memberId/remove": { groups: true },
};

/** Everything of a workspace, to see whether anything of it has changed. It leaves out columns that a look changes. */
export async function contentsOf(db: Database, workspaceId: string): Promise<string> {
  const tables = ["workspaces", "members", "api_keys", "groups", "group_members", "endpoints"];
  const more = ["endpoint_secrets", "approvals", "events", "deliveries", "activity", "absences"];
  const found: unknown[] = [];
  for (const table of [...tables, ...more]) {
    const column = table === "workspaces" ? "id" : "workspace_id";
    const { rows } = await db.query(
      `select to_jsonb(t) - 'last_used_at' as row from ${table} t where ${column} = $1 order by 1`,
      [workspaceId],
    );
    found.push(table, rows);
  }
  return JSON.stringify(found);
}
