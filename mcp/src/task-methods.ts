// The methods of tasks. Both ways of the protocol share `tasks/get` and `tasks/cancel`; `tasks/result` is of 2025 and
// `tasks/update` of 2026.

import {
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type ApprovalRequest, CountersignError } from "../../sdk/src/index.ts";
import { awaitDecision, type Waiting } from "./await-decision.ts";
import { declaresTasks, type Speech, speaksTasks, tasksExtension } from "./task-wire.ts";
import { parseTaskId, resultOf, type TaskHandle, toTask } from "./tasks.ts";
import { awaitSecondsMax } from "./tool-schemas.ts";

type Found = { taskId: string; handle: TaskHandle };
type Method = (found: Found, context: ServerContext) => Promise<Record<string, unknown>>;

const taskParams = z.looseObject({ taskId: z.string() });

export function addTaskMethods(server: McpServer, waiting: Waiting, speech: Speech): void {
  const { client } = waiting;
  const add = (name: string, era: Speech["era"] | null, method: Method) =>
    server.server.setRequestHandler(name, { params: taskParams }, ({ taskId }, context) => {
      if (!speaksTasks(speech) || (era !== null && era !== speech.era)) throw unknownMethod();
      if (speech.era === "modern" && !declaresTasks(context.mcpReq)) throw undeclared();
      const handle = parseTaskId(taskId);
      if (handle === null) throw unknownTask();
      return inWords(() => method({ taskId, handle }, context));
    });

  const read = ({ handle }: Found, { mcpReq: { signal } }: ServerContext) =>
    client.requests.get(handle.requestId, { signal });

  add("tasks/get", null, async (found, context) =>
    toTask(speech.era, found.taskId, await read(found, context)),
  );

  add("tasks/result", "legacy", async ({ taskId, handle }, context) => {
    const wait = { requestId: handle.requestId, maxSeconds: awaitSecondsMax };
    const request = await awaitDecision(waiting, wait, context);
    if (request.status === "PENDING") throw stillPending();
    return { ...resultOf(request), _meta: { [RELATED_TASK_META_KEY]: { taskId } } };
  });

  // Nothing is ever asked of the client, so there is nothing to update.
  add("tasks/update", "modern", async (found, context) => {
    await read(found, context);
    return {};
  });

  add("tasks/cancel", null, async (found, context) => {
    const request = await cancelled(found, context);
    return speech.era === "modern" ? {} : toTask("legacy", found.taskId, request);
  });

  /** The request goes with the call that made it. A wait is only somebody who looks on, maybe one of many. */
  async function cancelled(found: Found, context: ServerContext): Promise<ApprovalRequest> {
    const request = await read(found, context);
    if (found.handle.kind === "wait") {
      if (speech.era === "modern") return request;
      throw invalid(nothingToCancel);
    }
    if (request.status !== "PENDING") {
      if (speech.era === "modern") return request;
      throw invalid(`The task has ended already: its request is ${request.status}.`);
    }
    return client.requests.cancel(request.id, { signal: context.mcpReq.signal });
  }
}

const nothingToCancel =
  "This task only waits for a request, and nothing is kept for it: stop polling to end it. The request stands; the tool cancel_request cancels it.";

/** A refusal of the service, as an error of the protocol. */
async function inWords<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    if (error.code === "not_found") throw unknownTask();
    if (error.code === "already_resolved") throw invalid(error.message);
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${error.code}: ${error.message}`);
  }
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Foreign tasks look the same. */
function unknownTask(): ProtocolError {
  return invalid("There is no task of this id in the workspace of this API key.");
}

function unknownMethod(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
}

function undeclared(): ProtocolError {
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
  return new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

/** Many clients cut a call after 60 seconds, so none is held longer. */
function stillPending(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    "Still pending: nobody has decided yet. Poll tasks/get, and call tasks/result once the task is completed.",
  );
}
