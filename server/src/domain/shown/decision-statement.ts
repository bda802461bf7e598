// The text that a person signs with their passkey: which request, which verdict, what was shown, what will be executed,
// for whom, and how far the log was. The page makes it of what it shows, the service of its rows. A signature counts only
// where both are the same, to the byte.

import { isSameJson } from "./json-diff.ts";

/** Digests are SHA-256 in base64url; null stands for a payload that isn't there. */
export type Statement = {
  request: string;
  workspace: string;
  verdict: "approve" | "reject";
  /** The one that was shown; 1 where one person decides. */
  revision: number;
  /** The agent's. */
  payload: string | null;
  /** What an approval executes; null for a rejection. */
  effective: string | null;
  /** Of `shownText`. */
  shown: string;
  /** For whom the receipt will be. */
  audience: readonly string[];
  /** When the request expires, as ISO text. */
  expires: string;
  /** The first three lines of a checkpoint of the workspace's log; null while there is none. */
  checkpoint: string | null;
};

/** The order of the names is part of the text. */
export function decisionStatement(statement: Statement): string {
  const { request, workspace, verdict, revision, payload, effective } = statement;
  const { shown, audience, expires, checkpoint } = statement;
  return JSON.stringify({
    ...{ request, workspace, verdict, revision, payload, effective },
    ...{ shown, audience, expires, checkpoint },
  });
}

/** The passkey's challenge is the SHA-256 of this. The prefix keeps signatures from counting for anything else. */
export function challengeText(statement: string): string {
  return `countersign decision v1\0${statement}`;
}

type Texts = {
  payload: string | null;
  /** What an approver made of the payload, where it isn't the agent's any more. */
  change?: { payload: string } | null;
};

/**
 * The exact text that an approval with this edit executes. Another spelling of the same value is no edit, and the agent's
 * value again is the agent's text again.
 */
export function executedText(
  { payload, change = null }: Texts,
  edit: string | null,
): string | null {
  const current = change?.payload ?? payload;
  const isEdit = edit !== null && (current === null || !isSameJson(current, edit));
  const text = isEdit ? edit.trim() : current;
  return payload !== null && text !== null && isSameJson(payload, text) ? payload : text;
}

/** What the page sends of it: all but the statement in base64url. */
export type SignedAnswer = {
  credentialId: string;
  statement: string;
  authenticatorData: string;
  clientDataJSON: string;
  signature: string;
};
