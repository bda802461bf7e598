// A trick is something that an agent may try with its words. It names what the page must tell about it.

import { nothingElse } from "../server/src/domain/shown/submitted-fields.ts";
import type { ReviewedWords } from "../web/src/review/attention/findings.ts";

export type Trick = {
  /** The kind of the trick: folding, room, order, letters and digits, hidden characters, names, figures. */
  line: 1 | 3 | 4 | 5 | 6 | 7 | 8;
  name: string;
  summary?: string;
  reasoning?: string;
  agentName?: string;
  payload?: unknown;
  /** The page's words: the name of a button in its list of warnings, or for line 4 the note behind the value. */
  tells: string | RegExp;
};

/** The page's note behind a value whose parts could have been moved. */
export const storedOrder = "right-to-left text, in stored order";

/** The rules find these without a browser. The others are a matter of drawing. */
export const linesOfRules: readonly number[] = [4, 5, 6, 7];

/** A request that the page has nothing to tell about. */
export const ordinary: ReviewedWords = {
  ...nothingElse,
  summary: "Pay",
  agentName: "payer",
  workspaceName: "Acme Shop",
  reviewerEmail: "ann@example.com",
  groupName: null,
};

/** The words that the page's rules read of a request that tries the trick. */
export function wordsOf({ summary = "Pay", agentName = "payer", payload }: Trick): ReviewedWords {
  const text = payload === undefined ? null : JSON.stringify(payload);
  return { ...ordinary, summary, agentName, payload: text };
}
