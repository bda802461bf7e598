// LangChain and LangGraph: asks a person about the calls that an agent with `requireApproval` waits for (and about the
// actions of graphs that interrupt in the same words), and continues the thread with what they said.

import type { ApprovalRequest, Countersign, CreateRequest, WebhookData } from "@countersign/sdk";
import {
  isEdited,
  keyOf,
  lastDecided,
  problemWith,
  redeemForRun,
  refusalText,
  type Schemas,
  schemaOf,
  unusableText,
} from "@countersign/sdk/tool-call";
import { Command } from "@langchain/langgraph";
import type { ActionRequest } from "langchain";
import { type Answer, type Question, type Turn, turnKey } from "./middleware.ts";

export { type Gated, type RequireApprovalOptions, requireApproval } from "./middleware.ts";

export type Asking = {
  countersign: Countersign;
  /**
   * The approver's text beside the payload, which is the action's arguments. Derived from the action alone: it is
   * derived again when the thread continues, and must be the same then.
   */
  describe: (action: ActionRequest) => Omit<CreateRequest, "payload" | "agentState">;
  /**
   * For a graph of your own: a Standard Schema for each action, by its name. Nobody is asked about what does not pass,
   * and such an edit does not run. An agent has them in `requireApproval`, which tells its model.
   */
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
    await refuseUnfit(asking, interrupts);
    const asked = await askEach(asking, config, interrupts);
    const wait = config.signal === undefined ? {} : { signal: config.signal };
    const decided = await Promise.all(
      asked.map(({ id }) => asking.countersign.requests.waitForDecision(id, wait)),
    );
    result = await goOn(graph, config, await answersTo(asking, interrupts, decided));
  }
}

/** Only asks about the interrupts of a thread. `resume` continues from the webhook, wherever the checkpoints are. */
export async function ask(
  result: Interrupted,
  config: Config,
  asking: Asking,
): Promise<ApprovalRequest[]> {
  const interrupts = interruptsOf(result.__interrupt__ ?? []);
  await refuseUnfit(asking, interrupts);
  return askEach(asking, config, interrupts);
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
  const answers = await answersTo(asking, interrupts, asked);
  // Another resume may have continued the thread while this one was asking.
  const now = (await graph.getState(config as never)) as State;
  const waiting = new Set(now.tasks.flatMap((task) => task.interrupts.map((each) => each.id)));
  if (!interrupts.every((each) => waiting.has(each.id))) return null;
  return goOn(graph, config, answers);
}

type Known = { id: string; actions: ActionRequest[]; isGuarded: boolean };

type Answers = [interruptId: string, { decisions: Answer[] }][];

/** Continues the thread with the decisions. */
async function goOn<Result extends object>(
  graph: Graph<Result>,
  config: Config,
  answers: Answers,
): Promise<Result> {
  const command = new Command({ resume: Object.fromEntries(answers) });
  const turn: Turn = { last: Promise.resolve(), begun: new Set() };
  const configurable = { ...config.configurable, [turnKey]: turn };
  try {
    return await graph.invoke(command as never, { ...config, configurable } as never);
  } catch (error) {
    throw redeemedBefore(error) ?? error;
  }
}

/** The tools of the middleware redeem; for a graph without it, this does. */
async function answersTo(
  asking: Asking,
  interrupts: Known[],
  decided: ApprovalRequest[],
): Promise<Answers> {
  const remaining = [...decided];
  const asked = interrupts.flatMap(({ id, actions, isGuarded }) =>
    actions.map((action) => {
      const request = remaining.shift();
      if (request === undefined) throw new Error(`no request was made for ${action.name}`);
      return { id, action, isGuarded, request };
    }),
  );
  const answered = await Promise.all(
    asked.map(async (each) => ({
      ...each,
      answer: await answerOf(asking, each.request, each.action),
    })),
  );
  // Only after all checks, one after the other, and always in this order: of two resumes at once, one gets all actions.
  for (const each of answered) {
    if (each.isGuarded || each.answer.type === "reject") continue;
    const message = await redeemForRun(asking.countersign, each.request);
    if (message !== null) each.answer = { type: "reject", message };
  }
  return interrupts.map(({ id }) => [
    id,
    { decisions: answered.filter((each) => each.id === id).map(({ answer }) => answer) },
  ]);
}

async function answerOf(
  { schemas = {} }: Asking,
  request: ApprovalRequest,
  { name }: ActionRequest,
): Promise<Answer> {
  if (request.status !== "APPROVED") return { type: "reject", message: refusalText(request) };
  const { id: requestId, effectivePayload: args } = request;
  const problem = isObject(args)
    ? await problemWith(schemaOf(schemas, name), args)
    : "it is not an object.";
  if (problem !== null) return { type: "reject", message: unusableText(request, problem) };
  return isEdited(request) && isObject(args)
    ? { type: "edit", requestId, editedAction: { name, args } }
    : { type: "approve", requestId };
}

/** LangChain wraps what a middleware throws, and LangGraph collects what several tools throw. */
function redeemedBefore(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && error.code === "already_redeemed") return error;
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  return parts.map(redeemedBefore).find((each) => each !== undefined);
}

function interruptsOf(interrupts: Interrupt[]): Known[] {
  return interrupts.map(({ id, value }) => {
    const known = value as Partial<Question & { reviewConfigs: unknown }> | undefined;
    if (id === undefined || !Array.isArray(known?.actionRequests)) {
      throw new TypeError("this interrupt holds no actionRequests: it is not about actions");
    }
    const isGuarded = known.countersign === "redeems";
    if (!isGuarded && known.reviewConfigs !== undefined) {
      throw new TypeError(
        "LangChain's humanInTheLoopMiddleware runs an approved call again when its thread is taken up: use requireApproval of @countersign/langchain in its place",
      );
    }
    return { id, actions: known.actionRequests, isGuarded };
  });
}

/** Nobody is asked about what could not run. */
async function refuseUnfit({ schemas = {} }: Asking, interrupts: Known[]): Promise<void> {
  for (const { name, args } of interrupts.flatMap(({ actions }) => actions)) {
    const problem = await problemWith(schemaOf(schemas, name), args);
    if (problem !== null) throw new TypeError(`${name} cannot take this input: ${problem}`);
  }
}

async function askEach(
  { countersign, describe }: Asking,
  { configurable: { thread_id: threadId }, signal }: Config,
  interrupts: Known[],
): Promise<ApprovalRequest[]> {
  const all = interrupts.flatMap(({ id, actions }) =>
    actions.map((action, index) => ({ id, action, index })),
  );
  return Promise.all(
    all.map(async ({ id, action, index }) => {
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
