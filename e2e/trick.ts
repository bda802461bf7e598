// What a trick is: something that an agent may try with its words, and what the page must tell about it.

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
