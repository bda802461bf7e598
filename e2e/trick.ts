// What a trick is: something that an agent may try with its words, and what the page must tell about it.

export type Trick = {
  /** What it plays with: folding, room, order, letters and digits, hidden characters, names, figures. */
  line: 1 | 3 | 4 | 5 | 6 | 7 | 8;
  name: string;
  summary?: string;
  reasoning?: string;
  agentName?: string;
  payload?: unknown;
  /** What the page says: the name of a button in its list of warnings, or for line 4 what stands behind the value. */
  tells: string | RegExp;
};

/** What the page says behind a value whose parts could have been moved. */
export const storedOrder = "right-to-left text, in stored order";
