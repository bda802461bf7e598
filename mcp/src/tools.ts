// The six tools, over a client of the service. None decides: an agent cannot approve itself.

import { McpServer } from "@modelcontextprotocol/server";
import type { Countersign } from "../../sdk/src/index.ts";
import { awaitDecision, type Waiting } from "./await-decision.ts";
import { instructions, nextStepOf, redeemedStep } from "./next-step.ts";
import { addTaskMethods } from "./task-methods.ts";
import {
  addTaskWire,
  isTaskWelcome,
  type Speech,
  taskOrResult,
  tasksExtension,
} from "./task-wire.ts";
import { answered, refused, succeeded } from "./tool-results.ts";
import {
  awaitInput,
  createInput,
  decisionOutput,
  idInput,
  ignoringNulls,
  listInput,
  listOutput,
  requestOutput,
  toDecision,
  toPendingRow,
  toRequest,
} from "./tool-schemas.ts";
import { version } from "./version.ts";

export type McpOptions = {
  client: Countersign;
  /** Aborted when this process ends. */
  stopping?: AbortSignal;
  progressIntervalMs?: number;
  /** What the client speaks: the handshake of 2025 unless told. */
  era?: Speech["era"];
  /** The version that a handshake agreed on, if it was made before. */
  version?: string | null;
};

const progressIntervalDefaultMs = 5_000;

export function makeMcpServer({
  client,
  stopping = new AbortController().signal,
  progressIntervalMs = progressIntervalDefaultMs,
  era = "legacy",
  version: agreedVersion = null,
}: McpOptions): McpServer {
  const extensions = era === "modern" ? { extensions: { [tasksExtension]: {} } } : {};
  const server = new McpServer(
    { name: "countersign", title: "Countersign", version },
    // The tools never change, so nobody needs to listen for changes.
    { instructions, capabilities: { tools: { listChanged: false }, ...extensions } },
  );
  const speech: Speech = { era, version: agreedVersion };
  const waiting = { client, stopping, progressIntervalMs };
  addRequestApproval(server, client, era);
  addAwaitDecision(server, waiting, era);
  addRedeemRequest(server, client);
  addGetRequest(server, client);
  addListPending(server, client);
  addCancelRequest(server, client);
  addTaskMethods(server, waiting, speech);
  addTaskWire(server, speech);
  return server;
}

function addRequestApproval(server: McpServer, client: Countersign, era: Speech["era"]): void {
  server.registerTool(
    "request_approval",
    {
      title: "Ask a person for approval",
      description:
        "Ask a person before a sensitive or irreversible action: the workspace's approver gets a mail with what you want to do. Returns at once with status PENDING and an id. That is no permission: call await_decision with the id next. Only status APPROVED permits the action: then call redeem_request, and execute exactly its effectivePayload, which the approver may have edited. Ask once for each action: never again after a rejection, and never twice for the same thing.",
      inputSchema: ignoringNulls(createInput),
      outputSchema: decisionOutput,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    ({ idempotencyKey, notify: named, ...input }, context) =>
      answered(async () => {
        const { signal } = context.mcpReq;
        const notify = named ?? (await client.requests.defaultApprover({ signal }));
        if (notify === null) return refused(nobodyToAsk);
        const options = { signal, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) };
        const request = await client.requests.create({ ...definedOf(input), notify }, options);
        if (isTaskWelcome(context)) return taskOrResult(era, "ask", request);
        return succeeded(toDecision(request), nextStepOf(request));
      }),
  );
}

function addAwaitDecision(server: McpServer, waiting: Waiting, era: Speech["era"]): void {
  server.registerTool(
    "await_decision",
    {
      title: "Wait for the decision",
      description:
        "Wait until a person has decided about a request, for at most 50 seconds in one call. If the status is still PENDING, call again: that is normal, not an error, and no reason to ask anew. Only status APPROVED permits the action: call redeem_request right before you act. REJECTED means that a person said no: do not act, do not ask again, read resolutionNote. EXPIRED means that nobody decided in time, which is neither a yes nor a no: do not act. CANCELLED means that the agent or a member cancelled it: do not act.",
      inputSchema: ignoringNulls(awaitInput),
      outputSchema: decisionOutput,
      annotations: readOnly,
    },
    (wait, context) =>
      answered(async () => {
        if (isTaskWelcome(context)) {
          const { signal } = context.mcpReq;
          const request = await waiting.client.requests.get(wait.requestId, { signal });
          return taskOrResult(era, "wait", request);
        }
        const request = await awaitDecision(waiting, wait, context);
        return succeeded(toDecision(request), nextStepOf(request));
      }),
  );
}

function addRedeemRequest(server: McpServer, client: Countersign): void {
  server.registerTool(
    "redeem_request",
    {
      title: "Take an approved action in hand",
      description:
        "Call this once, right before you execute an approved request. Of all agents and runs that know of the approval, the first call gets effectivePayload: execute exactly that, once. Every later call gets an error, code already_redeemed, which says when it was redeemed and with which API key: the action is in hand or done already, so do not act. It cannot be undone, so do not call it to look at a request.",
      inputSchema: idInput,
      outputSchema: decisionOutput,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    ({ requestId }, { mcpReq: { signal } }) =>
      answered(async () => {
        const request = await client.requests.redeem(requestId, { signal });
        const nextStep = redeemedStep(request);
        return succeeded({ ...toDecision(request), nextStep }, nextStep);
      }),
  );
}

function addGetRequest(server: McpServer, client: Countersign): void {
  server.registerTool(
    "get_request",
    {
      title: "Read a request",
      description:
        "Read everything about one request without waiting: its status, payload, metadata and agentState. To wait for a decision use await_decision, and do not poll this. Only status APPROVED permits the action: call redeem_request right before you act.",
      inputSchema: idInput,
      outputSchema: requestOutput,
      annotations: readOnly,
    },
    ({ requestId }, { mcpReq: { signal } }) =>
      answered(async () => {
        const request = await client.requests.get(requestId, { signal });
        return succeeded(toRequest(request), nextStepOf(request));
      }),
  );
}

function addListPending(server: McpServer, client: Countersign): void {
  server.registerTool(
    "list_pending",
    {
      title: "List pending requests",
      description:
        "List the requests of this workspace that nobody has decided yet, newest first, without their payloads. Use it to find a request whose id you lost, or to see whether an action has been asked for already, before you ask.",
      inputSchema: ignoringNulls(listInput),
      outputSchema: listOutput,
      annotations: readOnly,
    },
    ({ limit, cursor }, { mcpReq: { signal } }) =>
      answered(async () => {
        const page = await client.requests.listPage(
          { status: "PENDING" },
          { limit, cursor: cursor ?? null, signal },
        );
        const { data, hasMore, nextCursor } = page;
        const rows = { requests: data.map(toPendingRow), hasMore, nextCursor };
        const more = hasMore ? " There are more: give nextCursor as cursor." : "";
        return succeeded(rows, `${data.length} pending.${more}`);
      }),
  );
}

function addCancelRequest(server: McpServer, client: Countersign): void {
  server.registerTool(
    "cancel_request",
    {
      title: "Cancel a request",
      description:
        "Cancel a pending request when its action is no longer needed, so that nobody spends time on it. It cannot be undone. Cancelling it again changes nothing. A request that was approved, was rejected or has expired keeps that outcome: the call answers with an error, code already_resolved, and get_request tells the outcome.",
      inputSchema: idInput,
      outputSchema: decisionOutput,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    ({ requestId }, { mcpReq: { signal } }) =>
      answered(async () => {
        const request = await client.requests.cancel(requestId, { signal });
        return succeeded(toDecision(request), nextStepOf(request));
      }),
  );
}

/** A model that chose an approver itself could choose one who always agrees. */
const nobodyToAsk =
  "no_approver: this workspace has no default approver, and you were not told whom to ask. Tell the user who gave you the task: an owner or admin sets a default approver in the dashboard, under Settings, or for your key alone under API keys. If the user names an approver, call again with their e-mail address as notify. Do not make one up.";

const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

type Defined<Value> = Value extends readonly (infer Item)[]
  ? Defined<Item>[]
  : Value extends object
    ? { [Key in keyof Value]: Defined<Exclude<Value[Key], undefined>> }
    : Value;

/** The fields that were given: the service would get null otherwise, or something it doesn't know. */
function definedOf<Fields extends object>(fields: Fields): Defined<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Defined<Fields>;
}
