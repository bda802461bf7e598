// LangChain and LangGraph: answers the interrupts of the human-in-the-loop middleware (and of graphs that interrupt
// with the same words) with a person's decision: approve, edit or reject.

import type { ApprovalRequest, Countersign, CreateRequest, WebhookData } from "@countersign/sdk";
import {
  decisionOf as decisionToTell,
  isEdited,
  isShownAs,
  keyOf,
  lastDecided,
  problemWith,
  redeemForRun,
  refusalText,
  type Schemas,
  schemaOf,
  tellWith,
  unusableText,
} from "@countersign/sdk/tool-call";
import { Command } from "@langchain/langgraph";
import {
  type ActionRequest,
  type AgentMiddleware,
  createMiddleware,
  type Decision,
  type HITLRequest,
  type HITLResponse,
  ToolMessage,
} from "langchain";

export type Asking = {
  countersign: Countersign;
  /**
   * The approver's text beside the payload, which is the action's arguments. Derived from the action alone: it is
   * derived again when the thread continues, and must be the same then.
   */
  describe: (action: ActionRequest) => Omit<CreateRequest, "payload" | "agentState">;
  /** A Standard Schema for each tool, by its name. What was approved must pass it, or it does not run. */
  schemas?: Schemas;
};

/** The answer of an interrupted graph or agent. */
export type Interrupted = { __interrupt__?: Interrupt[] };
type Interrupt = { id?: string; value?: unknown };
type Config = { configurable: { thread_id: string }; signal?: AbortSignal };
type Graph<Result> = { invoke(input: never, config: never): Promise<Result> };
type State = { tasks: { interrupts: Interrupt[] }[] };
/** In `agentState`: enough to find the thread again. */
export type ThreadState = { adapter: "langgraph"; threadId: string };

/**
 * Tells the model, in the tool's result, what the approver changed and their note:
 * `middleware: [humanInTheLoopMiddleware({ … }), tellModel]`. The middleware of LangChain keeps both to itself.
 */
export const tellModel: AgentMiddleware = createMiddleware({
  name: "CountersignTellModel",
  wrapToolCall: async (request, handler) => {
    const result = await handler(request);
    const all = (request.runtime.configurable?.[toldKey] ?? []) as ToldCall[];
    const { name, args } = request.toolCall;
    const told = all.find((each) => each.name === name && isShownAs(args, each.args))?.told;
    if (told === undefined || !ToolMessage.isInstance(result)) return result;
    const { content } = result;
    result.content =
      typeof content === "string"
        ? tellWith(told, content)
        : [{ type: "text", text: told }, ...content];
    return result;
  },
});

/** In the run's configuration, which reaches a graph wherever it runs. */
const toldKey = "countersign_told";
type ToldCall = { name: string; args: unknown; told: string };

/**
 * Runs an agent, and answers each of its interrupts once people have decided:
 * `await invoke(agent, input, config, { countersign, describe })`. Throws an `AlreadyRedeemedError` if another call
 * continues the thread.
 */
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
    result = await goOn(graph, { asking, config, interrupts, decided });
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
 * there is nothing to do: other actions of the thread are undecided, or it has continued already. Throws an
 * `AlreadyRedeemedError` if another call got the approval and the thread has not continued: that call is at it, or died.
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
  return goOn(graph, { asking, config, interrupts, decided: asked });
}

type Known = { id: string; value: HITLRequest };

/** Redeems what was approved, and continues the thread with the decisions. */
async function goOn<Result extends object>(
  graph: Graph<Result>,
  thread: { asking: Asking; config: Config; interrupts: Known[]; decided: ApprovalRequest[] },
): Promise<Result> {
  const { asking, config, interrupts, decided } = thread;
  const remaining = [...decided];
  const told: ToldCall[] = [];
  const responses: [string, HITLResponse][] = [];
  // One after the other, and always in this order: of two resumes at once, one gets all actions and the other none.
  for (const { id, value } of interrupts) {
    const decisions: Decision[] = [];
    for (const action of value.actionRequests) {
      const request = remaining.shift();
      if (request === undefined) throw new Error(`no request was made for ${action.name}`);
      const decision = await decisionOf(asking, request, action, value);
      decisions.push(decision);
      const toTell = decision.type === "reject" ? null : decisionToTell(request);
      if (toTell === null) continue;
      told.push({ name: action.name, args: request.effectivePayload, told: toTell.told });
    }
    responses.push([id, { decisions }]);
  }
  const command = new Command({ resume: Object.fromEntries(responses) });
  const configurable = { ...config.configurable, [toldKey]: told };
  return graph.invoke(command as never, { ...config, configurable } as never);
}

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

async function decisionOf(
  { countersign, schemas = {} }: Asking,
  request: ApprovalRequest,
  { name }: ActionRequest,
  { reviewConfigs }: HITLRequest,
): Promise<Decision> {
  if (request.status !== "APPROVED") return { type: "reject", message: refusalText(request) };
  const { id, effectivePayload: args } = request;
  const wasEdited = isEdited(request);
  const config = reviewConfigs.find(({ actionName }) => actionName === name);
  const problem =
    wasEdited && config !== undefined && !config.allowedDecisions.includes("edit")
      ? `${name} allows no edits.`
      : wasEdited && !isObject(args)
        ? "it is not an object."
        : await problemWith(schemaOf(schemas, name), args);
  const message =
    problem === null ? await redeemForRun(countersign, request) : unusableText(id, problem);
  if (message !== null) return { type: "reject", message };
  return wasEdited && isObject(args)
    ? { type: "edit", editedAction: { name, args } }
    : { type: "approve" };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
