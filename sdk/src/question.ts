// Whether a request asks what this code asks: the same words, of the same people, by the same agent. Everybody with a key
// of the workspace can ask anybody anything, and an approval by others, by fewer people, without the signatures that this
// code demands, or for other executors, must not count.

import type { ApprovalRequest, CreateRequest } from "./contract.ts";

/** What code asks beside the payload, and what can be read of it in a request. */
export type Question = Pick<
  CreateRequest,
  | "summary"
  | "notify"
  | "agentName"
  | "requestedBy"
  | "quorum"
  | "then"
  | "escalate"
  | "audience"
  | "requireSignature"
>;
export type AskedRequest = Pick<
  ApprovalRequest,
  | "summary"
  | "approverEmail"
  | "approverGroup"
  | "agentName"
  | "requestedBy"
  | "approvals"
  | "audience"
  | "requireSignature"
>;

/** In one spelling with `wordsOfRequest`. */
export function wordsOfQuestion(question: Question): string {
  const { summary, notify, agentName = null, requestedBy } = question;
  const stages = stagesOf(question);
  return wordsOf({ summary, notify, agentName, requestedBy, stages, ...proofOf(question) });
}

export function wordsOfRequest(request: AskedRequest): string {
  const { summary, approverEmail, approverGroup, agentName, requestedBy, approvals } = request;
  const notify = approverGroup === null ? approverEmail : `group:${approverGroup.key}`;
  const stages = approvals?.stages.map(({ notify, required }) => ({
    notify,
    required: Number(required),
  }));
  const asked = { summary, notify, agentName, requestedBy, stages: stages ?? null };
  return wordsOf({ ...asked, ...proofOf(request) });
}

type Words = {
  summary: string;
  notify: string | null;
  agentName: string | null;
  requestedBy: string | null | undefined;
  stages: { notify: string; required: number }[] | null;
  audience?: readonly string[];
  requireSignature?: true;
};

function wordsOf({ summary, notify, agentName, requestedBy, stages, ...proof }: Words): string {
  return JSON.stringify({
    summary,
    notify,
    agentName,
    ...(requestedBy === null || requestedBy === undefined ? {} : { requestedBy }),
    ...(stages === null ? {} : { stages }),
    ...proof,
  });
}

/** `false` asks for nothing, like a field that isn't given. */
function proofOf({ audience, requireSignature }: Pick<Question, "audience" | "requireSignature">) {
  return {
    ...(audience === null || audience === undefined ? {} : { audience }),
    ...(requireSignature === true ? { requireSignature } : {}),
  };
}

/** Null if one person decides. */
function stagesOf({ notify, quorum, then, escalate }: Question): Words["stages"] {
  const later = then ?? [];
  const isPlain = (quorum ?? null) === null && later.length === 0 && (escalate ?? []).length === 0;
  if (isPlain) return null;
  return [{ notify, quorum }, ...later].map((stage) => ({
    notify: stage.notify,
    required: stage.quorum ?? 1,
  }));
}
