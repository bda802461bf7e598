// The inbox's own calls to the service; those about an open request are the review page's. Nothing throws.

import type {
  InboxDecisions,
  InboxList,
  InboxPast,
  InboxResults,
  InboxSettings,
  InboxSettingsChange,
  SlackLinkCode,
} from "../../../../server/src/wire/inbox-contract.ts";
import { words } from "../../look/words.ts";
import type { ReviewAccess } from "../../review/service/access.ts";
import { basePath } from "./base-path.ts";

export type InboxFailure = {
  kind: "failure";
  /** Ours is `offline`: no answer came, or one that isn't the service's. */
  code: string;
  message: string;
  /** Whether the call may have worked all the same. */
  isUntold: boolean;
};

const answerMs = 10_000;
const decisionMs = 30_000;

export const inboxApi = `${basePath}/inbox/api`;

export function readList(): Promise<InboxList | InboxFailure> {
  return ask(`${inboxApi}/list`);
}

export function readPast(before: string | null): Promise<InboxPast | InboxFailure> {
  const query = before === null ? "" : `?${new URLSearchParams({ before })}`;
  return ask(`${inboxApi}/past${query}`);
}

/** The person's place in a request. */
export function findPlace(requestId: string): Promise<{ id: string } | InboxFailure> {
  return ask(`${inboxApi}/find/${encodeURIComponent(requestId)}`);
}

export function decideSeveral(decisions: InboxDecisions): Promise<InboxResults | InboxFailure> {
  return ask(`${inboxApi}/decisions`, decisions, decisionMs);
}

export function readSettings(): Promise<InboxSettings | InboxFailure> {
  return ask(`${inboxApi}/settings`);
}

export function saveSettings(change: InboxSettingsChange): Promise<InboxSettings | InboxFailure> {
  return ask(`${inboxApi}/settings`, change);
}

export function makeSlackCode(): Promise<SlackLinkCode | InboxFailure> {
  return ask(`${inboxApi}/slack-code`, {});
}

export function unlinkSlack(teamId: string): Promise<object | InboxFailure> {
  return ask(`${inboxApi}/slack-accounts/${encodeURIComponent(teamId)}/remove`, {});
}

/** How the review page's parts reach a request of the inbox. */
export function accessInInbox(
  id: string,
  { watch, onSignedOut }: Pick<ReviewAccess, "watch" | "onSignedOut">,
): ReviewAccess {
  const address = `${inboxApi}/reviews/${encodeURIComponent(id)}`;
  const inbox = `${basePath}/inbox`;
  return { kind: "inbox", address, inbox, code: null, watch, onSignedOut };
}

export function isFailure(answer: object): answer is InboxFailure {
  return "kind" in answer && answer.kind === "failure";
}

/** A POST where there is a body. */
export async function ask<Answer extends object>(
  address: string,
  body?: object,
  timeoutMs = answerMs,
): Promise<Answer | InboxFailure> {
  try {
    const response = await fetch(address, {
      ...(body === undefined
        ? {}
        : {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          }),
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer: unknown = await response.json();
    return response.ok ? (answer as Answer) : toFailure(answer);
  } catch {
    return failure("offline", words.problem.offline, true);
  }
}

function toFailure(answer: unknown): InboxFailure {
  if (typeof answer !== "object" || answer === null || !("error" in answer)) {
    return failure("offline", words.problem.unknown, true);
  }
  const { code, message } = answer.error as { code: string; message: string };
  return failure(code, message, code === "internal_error" || code === "unavailable");
}

function failure(code: string, message: string, isUntold: boolean): InboxFailure {
  return { kind: "failure", code, message, isUntold };
}
