// The calls to the service: as bytes of HTTP, and as the statement that the service runs for a batch of one.

import { randomBytes } from "node:crypto";
import type { Database } from "../../server/src/database/database.ts";
import { digestOfApiKey } from "../../server/src/domain/access/api-key.ts";
import { parseNewApproval } from "../../server/src/domain/approval/new-approval.ts";
import { type ChangeRefusal, isRefusal, type Refusal } from "../../server/src/domain/refusal.ts";
import type { JsonText } from "../../server/src/domain/shown/json-text.ts";
import { registerEndpoint } from "../../server/src/operations/deliveries/manage-endpoint.ts";
import { issueKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { createWorkspace } from "../../server/src/operations/workspaces/manage-workspace.ts";
import { creationQuery } from "../../server/src/storage/approvals/approval-creation.ts";
import { findByKeysSql } from "../../server/src/storage/approvals/approvals.ts";
import { approver, body } from "./example-body.ts";
import type { Service } from "./service.ts";

export type Statement = {
  name: string;
  text: string;
  values: unknown[];
  /** Values that differ: the client's own key, and a new digest each time, for review links are unique. */
  varying: { keyAt: number; keys: Buffer[]; digestsAt: number } | null;
};

export type Workspace = { id: string; apiKey: string; endpointIds: string[] };

/** With an endpoint at each of the given URLs. */
export async function openWorkspace(
  { db, keyring }: Pick<Service, "db" | "keyring">,
  urls: string[] = [],
): Promise<Workspace> {
  const { id: workspaceId } = accepted(await createWorkspace(db, { name: "Benchmark" }));
  const { key: apiKey } = accepted(await issueKey(db, { workspaceId, name: "Benchmark" }));
  const endpointIds: string[] = [];
  for (const url of urls) {
    const endpoint = { workspaceId, url, eventKinds: null, examineAddress: async () => null };
    endpointIds.push(accepted(await registerEndpoint(db, keyring, endpoint)).id);
  }
  return { id: workspaceId, apiKey, endpointIds };
}

export async function openWorkspaces(
  where: Pick<Service, "db" | "keyring">,
  count: number,
  urls: string[] = [],
): Promise<Workspace[]> {
  const workspaces: Workspace[] = [];
  while (workspaces.length < count) workspaces.push(await openWorkspace(where, urls));
  return workspaces;
}

/** Of one workspace after the other: in each, creates are counted in one row and wait for each other's commit. */
export function createCalls(workspaces: Workspace[], json = body): string[] {
  return workspaces.map(
    ({ apiKey }) =>
      `POST /v1/requests HTTP/1.1\r\n${headers(apiKey)}Content-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

/** Each client of the ceiling has a workspace of its own, as long as there are enough. */
export function createStatement(workspaces: Workspace[], agentState?: JsonText): Statement {
  const keys = workspaces.map(({ apiKey }) => digestOfApiKey(apiKey));
  const approval = accepted(parseNewApproval(Buffer.from(body)));
  const tokenDigest = randomBytes(32);
  const row = {
    submitted: { ...approval, agentState: agentState ?? approval.agentState },
    ttlMinutes: approval.ttlMinutes,
    callbackUrl: approval.callbackUrl,
    keyDigest: Buffer.alloc(32),
    idempotency: null,
    approverEmail: approver,
    group: null,
    groupIds: null,
    hasSeats: false,
    voting: null,
    reviewers: [{ email: approver, tokenNonce: randomBytes(16), tokenDigest }],
  };
  const { text, values } = creationQuery([row], "benchmark");
  const keyAt = values.indexOf(row.keyDigest);
  const digestsAt = values.findIndex((each) => Array.isArray(each) && each.includes(tokenDigest));
  return { name: "create", text, values, varying: { keyAt, keys, digestsAt } };
}

export function readCall({ apiKey }: { apiKey: string }, id: string): string {
  return `GET ${pathOf(id)} HTTP/1.1\r\n${headers(apiKey)}\r\n`;
}

export function readStatement({ apiKey }: { apiKey: string }, id: string): Statement {
  const values = [[digestOfApiKey(apiKey)], [id]];
  return { name: "read", text: findByKeysSql, values, varying: null };
}

export function pathOf(id: string): string {
  return `/v1/requests/${id}`;
}

/** Creates one for real. */
export async function create(
  { port }: Pick<Service, "port">,
  { apiKey }: { apiKey: string },
  json = body,
): Promise<{ id: string; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/requests`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}` },
    body: json,
  });
  const text = await response.text();
  const id = /"id":"(req_\w+)"/.exec(text)?.[1];
  if (id === undefined) throw new Error(`the service refuses the example: ${text}`);
  return { id, text };
}

/**
 * Mails and webhooks that are still to be sent are left unsent, so that they disturb nobody's next turn. Those under way
 * end by themselves.
 */
export async function dropBacklog(db: Database): Promise<void> {
  for (let dropped = 1; dropped > 0; ) {
    const { rowCount } = await db.query(
      `update deliveries d set state = 'skipped'
       from (
         select workspace_id, id from deliveries
         where state = 'due' and lease_token is null
         limit 20000
         for update skip locked
       ) as waiting
       where d.workspace_id = waiting.workspace_id and d.id = waiting.id`,
    );
    dropped = rowCount ?? 0;
  }
}

function headers(apiKey: string): string {
  return `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\n`;
}

export function accepted<Value extends object>(result: Value | Refusal | ChangeRefusal): Value {
  if (isRefusal(result)) throw new Error(result.message);
  return result;
}
