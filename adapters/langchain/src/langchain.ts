// LangChain and LangGraph: answers the interrupts of the human-in-the-loop middleware (and of graphs that interrupt
// with the same words) with a person's decision: approve, edit or reject.

import type { ApprovalRequest, Countersign, CreateRequest, WebhookData } from "@countersign/sdk";
import {
  isEdited,
  keyOf,
  lastDecided,
  refusalText,
  unusableText,
} from "@countersign/sdk/tool-call";
import { Command } from "@langchain/langgraph";
import type { ActionRequest, Decision, HITLRequest, HITLResponse } from "langchain";

export type Asking = {
  countersign: Countersign;
  /**
   * The approver's text beside the payload, which is the action's arguments. Derived from the action alone: it is
   * derived again when the thread continues, and must be the same then.
   */
  describe: (action: ActionRequest) => Omit<CreateRequest, "payload" | "agentState">;
};

/** The answer of an interrupted graph or agent. */
export type Interrupted = { __interrupt__?: Interrupt[] };
type Interrupt = { id?: string; value?: unknown };
type Config = { configurable: { thread_id: string }; signal?: AbortSignal };
type Graph<Result> = { invoke(input: never, config: never): Promise<Result> };
type State = { tasks: { interrupts: Interrupt[] }[] };
/** In `agentState`: enough to find the thread again. */
export type ThreadState = { adapter: "langgraph"; threadId: string };

/** Runs an agent, and answers each of its interrupts once people have decided: `await invoke(agent, input, config, { countersign, describe })`. */
export async function invoke<Result extends object>(
  graph: Graph<Result>,
  input: unknown,
  config: Config,
  asking: Asking,
): Promise<Result> {
  let result = await graph.invoke(input as never, config as never);
  for (;;) {
    const interrupts = interruptsOf((result as Interrupted).__interrupt__ ?? []);
    if (interrupts.length === 0) return result;
    const asked = await askEach(asking, config, interrupts);
    const wait = config.signal === undefined ? {} : { signal: config.signal };
    const decided = await Promise.all(
      asked.map(({ id }) => asking.countersign.requests.waitForDecision(id, wait)),
    );
    result = await graph.invoke(resumeWith(interrupts, decided) as never, config as never);
  }
}

/** Only asks about the interrupts of a thread. `resume` continues from the webhook, wherever the checkpoints are. */
export async function ask(
  result: Interrupted,
  config: Config,
  asking: Asking,
): Promise<ApprovalRequest[]> {
  return askEach(asking, config, interruptsOf(result.__interrupt__ ?? []));
}

/**
 * Continues the thread of a verified webhook: `await resume(agent, event.data, { countersign, describe })`. Null if
 * there is nothing to do: other actions of the thread are undecided, or it has continued already.
 */
export async function resume<Result extends object>(
  graph: Graph<Result> & { getState(config: never): Promise<unknown> },
  { id, status, agentState }: Pick<WebhookData, "id" | "status" | "agentState">,
  asking: Asking,
): Promise<Result | null> {
  const { adapter, threadId = "" } = (agentState ?? {}) as Partial<ThreadState>;
  if (adapter !== "langgraph" || status === "PENDING") return null;
  const config = { configurable: { thread_id: threadId } };
  const { tasks } = (await graph.getState(config as never)) as State;
  const interrupts = interruptsOf(tasks.flatMap((task) => task.interrupts));
  // Asked again with the same keys, these are the same requests in their current state.
  const asked = await askEach(asking, config, interrupts);
  if (asked.length === 0 || asked.some(({ status }) => status === "PENDING")) return null;
  if (lastDecided(asked) !== id) return null;
  return graph.invoke(resumeWith(interrupts, asked) as never, config as never);
}

type Known = { id: string; value: HITLRequest };

function interruptsOf(interrupts: Interrupt[]): Known[] {
  return interrupts.map(({ id, value }) => {
    const known = value as Partial<HITLRequest> | undefined;
    if (id === undefined || !Array.isArray(known?.actionRequests)) {
      throw new TypeError("this interrupt holds no actionRequests: it is not about actions");
    }
    const { actionRequests, reviewConfigs = [] } = known;
    const deaf = reviewConfigs.find(({ allowedDecisions }) => !allowedDecisions.includes("reject"));
    if (deaf !== undefined) {
      throw new TypeError(
        `a person may say no: allow the decision "reject" for ${deaf.actionName}`,
      );
    }
    return { id, value: { actionRequests, reviewConfigs } };
  });
}

async function askEach(
  { countersign, describe }: Asking,
  { configurable: { thread_id: threadId }, signal }: Config,
  interrupts: Known[],
): Promise<ApprovalRequest[]> {
  const actions = interrupts.flatMap(({ id, value }) =>
    value.actionRequests.map((action, index) => ({ id, action, index })),
  );
  return Promise.all(
    actions.map(async ({ id, action, index }) => {
      const idempotencyKey = await keyOf("langgraph", threadId, id, String(index));
      const agentState: ThreadState = { adapter: "langgraph", threadId };
      const input = { ...describe(action), payload: action.args, agentState };
      return countersign.requests.create(input, {
        idempotencyKey,
        ...(signal === undefined ? {} : { signal }),
      });
    }),
  );
}

/** One response for each interrupt, with the decisions in the order of its actions. */
function resumeWith(interrupts: Known[], decided: ApprovalRequest[]): Command {
  const remaining = [...decided];
  const responses = interrupts.map(({ id, value }): [string, HITLResponse] => {
    const decisions = value.actionRequests.map((action) => {
      const request = remaining.shift();
      if (request === undefined) throw new Error(`no request was made for ${action.name}`);
      return decisionOf(request, action, value);
    });
    return [id, { decisions }];
  });
  return new Command({ resume: Object.fromEntries(responses) });
}

function decisionOf(
  request: ApprovalRequest,
  { name }: ActionRequest,
  { reviewConfigs }: HITLRequest,
): Decision {
  if (request.status !== "APPROVED") return { type: "reject", message: refusalText(request) };
  if (!isEdited(request)) return { type: "approve" };
  const config = reviewConfigs.find(({ actionName }) => actionName === name);
  const args = request.effectivePayload;
  if (config !== undefined && !config.allowedDecisions.includes("edit")) {
    return { type: "reject", message: unusableText(request.id, `${name} allows no edits.`) };
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return { type: "reject", message: unusableText(request.id, "it is not an object.") };
  }
  return { type: "edit", editedAction: { name, args } };
}
