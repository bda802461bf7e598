// What is measured: the create of example-body.ts, in many workspaces, and the read of a few approvals.
// Each is there as bytes of HTTP and as the very statement that the service runs for a batch of one.

import { randomBytes } from "node:crypto";
import { digestOfApiKey } from "../../server/src/domain/api-key.ts";
import { toJsonText } from "../../server/src/domain/json-text.ts";
import { parseNewApproval } from "../../server/src/domain/new-approval.ts";
import { type ChangeRefusal, isRefusal, type Refusal } from "../../server/src/domain/refusal.ts";
import { issueKey } from "../../server/src/operations/issue-key.ts";
import { createWorkspace } from "../../server/src/operations/manage-workspace.ts";
import { creationQuery } from "../../server/src/storage/approval-creation.ts";
import { findByKeysSql } from "../../server/src/storage/approvals.ts";
import type { Database } from "../../server/src/storage/database.ts";
import { approver, body } from "./example-body.ts";

export type Statement = {
  name: string;
  text: string;
  values: unknown[];
  /** Values that differ: the client's own key, and a new digest each time, for review links are unique. */
  varying: { keyAt: number; keys: Buffer[]; digestsAt: number } | null;
};

/** Whole HTTP requests with the status they get, and the same calls as statements; both go in turn. */
export type Workload = {
  name: string;
  requests: string[];
  status: number;
  statements: Statement[];
};

export type Target = { port: number; apiKey: string };

/** pgbench cannot choose from a long list, so both sides read these few again and again. */
const approvalsRead = 8;

/**
 * Creates in one workspace wait for each other, because they are counted in one row. So that the ceiling
 * is PostgreSQL and not this queue, every client of it has a workspace of its own.
 */
export async function prepareWorkloads(
  target: Target,
  db: Database,
  workspaces: number,
): Promise<Workload[]> {
  const ids: string[] = [];
  while (ids.length < approvalsRead) ids.push(await create(target));
  const keys = [target.apiKey];
  while (keys.length < workspaces) keys.push(await openWorkspace(db));
  return [creates(keys), reads(target.apiKey, ids)];
}

async function openWorkspace(db: Database): Promise<string> {
  const { id: workspaceId } = accepted(await createWorkspace(db, { name: "Benchmark" }));
  return accepted(await issueKey(db, { workspaceId, name: "Benchmark" })).key;
}

async function create({ port, apiKey }: Target): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/requests`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}` },
    body,
  });
  const text = await response.text();
  const id = /"id":"(req_\w+)"/.exec(text)?.[1];
  if (id === undefined) throw new Error(`the service refuses the example: ${text}`);
  return id;
}

function creates(apiKeys: string[]): Workload {
  const keys = apiKeys.map(digestOfApiKey);
  const approval = accepted(parseNewApproval(Buffer.from(body)));
  const tokenDigest = randomBytes(32);
  const row = {
    ...approval,
    keyDigest: Buffer.alloc(32),
    idempotency: null,
    recentActions: toJsonText(approval.recentActions),
    approverEmail: approver,
    group: null,
    reviewers: [{ email: approver, tokenNonce: randomBytes(16), tokenDigest }],
  };
  const { text, values } = creationQuery([row], "benchmark");
  const keyAt = values.indexOf(row.keyDigest);
  const digestsAt = values.findIndex((each) => Array.isArray(each) && each.includes(tokenDigest));
  return {
    name: "create",
    requests: apiKeys.map(
      (apiKey) =>
        `POST /v1/requests HTTP/1.1\r\n${headers(apiKey)}Content-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
    status: 201,
    statements: [{ name: "create", text, values, varying: { keyAt, keys, digestsAt } }],
  };
}

function reads(apiKey: string, ids: string[]): Workload {
  const key = digestOfApiKey(apiKey);
  const read = { name: "read", text: findByKeysSql, varying: null };
  return {
    name: "read",
    requests: ids.map((id) => `GET /v1/requests/${id} HTTP/1.1\r\n${headers(apiKey)}\r\n`),
    status: 200,
    statements: ids.map((id) => ({ ...read, values: [[key], [id]] })),
  };
}

function headers(apiKey: string): string {
  return `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\n`;
}

function accepted<Value extends object>(result: Value | Refusal | ChangeRefusal): Value {
  if (isRefusal(result)) throw new Error(result.message);
  return result;
}
