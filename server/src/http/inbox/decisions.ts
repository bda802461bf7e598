// Several decisions at once: of one agent, each about exactly what was shown of its own request, one after the other. What
// becomes of one doesn't touch the others.

import { DatabaseBusy, isUnavailable } from "../../database/faults.ts";
import { parseSeveralDecisions } from "../../domain/approval/review-decision.ts";
import { isRefusal } from "../../domain/refusal.ts";
import * as inbox from "../../storage/approvals/inbox.ts";
import type { InboxResults } from "../../wire/inbox-contract.ts";
import type { Answer, Call } from "../frame/call.ts";
import { compressed } from "../frame/compression.ts";
import { problemOfRefusal, reviewFault, reviewProblem, unavailable } from "../frame/problems.ts";
import { decideOne } from "../review/reviews.ts";
import { agentOf } from "./lists.ts";
import { accessTo, amrOf, type InboxCalls, reviewerIdOf, type Visit } from "./visit.ts";

export async function decideSeveral(calls: InboxCalls, { call, person }: Visit): Promise<Answer> {
  const wished = parseSeveralDecisions(call.body);
  if (isRefusal(wished)) return problemOfRefusal(wished);
  const ids = wished.decisions.map(({ id }) => reviewerIdOf(id));
  const agents = (await inbox.listAgents(calls.db, person.email, ids)).map(agentOf);
  if (new Set(agents).size > 1) return notOneAgent();
  const results: InboxResults["results"] = [];
  for (const { id, ...shown } of wished.decisions) {
    const { verdict, note, page } = wished;
    const decision = { verdict, note, page, ...shown, code: null, edit: null, signed: null };
    const way = { access: accessTo(id, person.email), session: amrOf(person) };
    const answer = await untilAnswered(() => decideOne(calls, call, { ...way, decision }));
    results.push({ id, ...toResult(answer) });
  }
  noteNone(call);
  const body = JSON.stringify({ results } satisfies InboxResults);
  return compressed(call, { status: 200, body });
}

/** Those before it are decided already, so their sender must learn the result of each. */
async function untilAnswered(decide: () => Promise<Answer & { body: string }>): Promise<Answer> {
  try {
    return await decide();
  } catch (error) {
    if (error instanceof DatabaseBusy || isUnavailable(error)) return reviewFault(unavailable());
    throw error;
  }
}

type Result = InboxResults["results"][number] extends infer Each
  ? Each extends { id: string }
    ? Omit<Each, "id">
    : never
  : never;

function toResult({ status, body }: Answer): Result {
  const told = JSON.parse(String(body));
  return status === 200 ? { kind: "recorded", status: told } : { kind: "refused", problem: told };
}

/** The log's line is about all of them, and names none. */
function noteNone({ facts }: Call): void {
  delete facts.approvalId;
}

function notOneAgent(): Answer {
  return reviewProblem(
    "validation_error",
    "Only requests of one agent can be decided together. Nothing was decided. Choose again.",
  );
}
