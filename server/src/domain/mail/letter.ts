// The content of a mail, before it is text or HTML. Both parts are rendered from one letter, so they say the same.

/** A string is ours. Others' words are marked, so that every renderer makes them inert. */
export type Words = readonly (string | { theirs: string })[];

export type Block =
  | { kind: "paragraph"; words: Words }
  /** In a quiet frame, under labels of ours: others' words. */
  | { kind: "quotes"; quotes: readonly Quote[] }
  | { kind: "facts"; facts: readonly Fact[] }
  /** A secret of the reader, to be typed where the words say. It is ours, like the words. */
  | { kind: "code"; label: string; code: string; words: Words }
  | { kind: "button"; label: string; url: string }
  /** One of several requests, with all that belongs to it. Rendered in few bytes, because a mail lists many. */
  | ({ kind: "request" } & ListedRequest)
  /** Lines of ours, to be copied to the letter. */
  | { kind: "verbatim"; text: string }
  /** To be typed as they are. They hold ids and times of ours, never words of others. */
  | { kind: "commands"; commands: readonly string[] };

export type ListedRequest = {
  title: string;
  quotes: readonly Quote[];
  facts: readonly Fact[];
  code: { label: string; code: string } | null;
  link: { label: string; url: string };
};

export type Quote = { label: string; text: string; isMultiLine: boolean };
export type Fact = { label: string; words: Words; detail?: string };

export type Letter = {
  heading: string;
  /** Mail programs show it beside the subject; always our words. */
  preview: string;
  blocks: readonly Block[];
  footer: readonly Words[];
};
