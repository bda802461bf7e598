// What a person sees of a message or a modal, and whom it notifies: the texts as Slack draws them, and all that Slack
// takes for markup in them. Text that only looks like markup but stands where Slack reads none is plain text.

// biome-ignore lint/suspicious/noExplicitAny: blocks are checked when they are sent
type Json = any;

export type Seen = {
  /** As drawn, one line for each text. */
  text: string;
  /** Those whom it notifies: ids of users and groups, or `channel`, `here`, `everyone`. */
  mentions: string[];
  links: string[];
  emoji: string[];
  /** Words that are bold, italic, struck through or code. */
  formatted: string[];
  buttons: { actionId: string; label: string; url?: string; value?: string }[];
};

export function seenIn(blocks: readonly Json[]): Seen {
  const seen = nothing();
  for (const block of blocks) look(block, seen);
  return { ...seen, text: seen.lines.join("\n") };
}

/** The line beside the blocks: what notifications and screen readers say. It is markup unless told otherwise. */
export function seenInText({
  text,
  isMarkup = true,
  linksUrls = true,
}: {
  text: string;
  isMarkup?: boolean;
  linksUrls?: boolean;
}): Seen {
  const seen = nothing();
  readMarkup(text, seen, { isVerbatim: !linksUrls, isMarkup });
  return { ...seen, text: seen.lines.join("\n") };
}

type Seeing = Omit<Seen, "text"> & { lines: string[] };

function nothing(): Seeing {
  return { lines: [], mentions: [], links: [], emoji: [], formatted: [], buttons: [] };
}

function look(item: Json, seen: Seeing): void {
  for (const each of Array.isArray(item) ? item : []) look(each, seen);
  if (typeof item !== "object" || item === null || Array.isArray(item)) return;
  if (item.type === "mrkdwn") {
    readMarkup(item.text, seen, { isVerbatim: item.verbatim === true, isMarkup: true });
  } else if (item.type === "plain_text") {
    readPlain(item, seen);
  } else if (item.type === "button") {
    lookAtButton(item, seen);
  } else if (/^rich_text_(section|quote|preformatted)$/.test(item.type)) {
    seen.lines.push(item.elements.map((each: Json) => inlineOf(each, seen)).join(""));
  } else {
    lookInside(item, seen);
  }
}

function lookInside(item: Json, seen: Seeing): void {
  for (const name of [
    "text",
    "label",
    "hint",
    "title",
    "fields",
    "elements",
    "element",
    "accessory",
    "options",
    "placeholder",
  ])
    look(item[name], seen);
}

function lookAtButton({ text, action_id, url, value }: Json, seen: Seeing): void {
  seen.buttons.push({
    actionId: action_id,
    label: text.text,
    ...(url === undefined ? {} : { url }),
    ...(value === undefined ? {} : { value }),
  });
  if (url !== undefined) seen.links.push(url);
}

function inlineOf(element: Json, seen: Seeing): string {
  if (element.style !== undefined && Object.values(element.style).includes(true))
    seen.formatted.push(element.text ?? "");
  if (element.type === "text") return element.text;
  if (element.type === "link") {
    seen.links.push(element.url);
    return element.text ?? element.url;
  }
  if (element.type === "emoji") seen.emoji.push(element.name);
  if (element.type === "date") return element.fallback ?? "";
  const mention = element.user_id ?? element.usergroup_id ?? element.range;
  if (mention !== undefined) seen.mentions.push(mention);
  return `[${element.type}]`;
}

/** Unless told otherwise, Slack draws the names of emoji even in plain text. */
function readPlain({ text, emoji = true }: Json, seen: Seeing): void {
  if (emoji) for (const [, name = ""] of text.matchAll(emojiName)) seen.emoji.push(name);
  seen.lines.push(text);
}

const emojiName = /:([a-z0-9_+'-]+):/g;

function readMarkup(
  text: string,
  seen: Seeing,
  { isVerbatim, isMarkup }: { isVerbatim: boolean; isMarkup: boolean },
): void {
  const drawn = text.replaceAll(/<([^>]*)>/g, (_, inner: string) => specialOf(inner, seen));
  for (const [, name = ""] of text.matchAll(emojiName)) seen.emoji.push(name);
  if (isMarkup) {
    for (const [, word = ""] of drawn.matchAll(/(?<!\w)([*_~`])(?=\S).+?(?<=\S)\1(?!\w)/g))
      seen.formatted.push(word);
  }
  if (!isVerbatim) for (const [found] of drawn.matchAll(/https?:\/\/\S+/g)) seen.links.push(found);
  seen.lines.push(drawn.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"));
}

function specialOf(inner: string, seen: Seeing): string {
  const [target = "", label] = inner.split("|");
  if (/^!(channel|here|everyone)/.test(target)) seen.mentions.push(target.slice(1));
  else if (target.startsWith("!subteam^")) seen.mentions.push(target.slice(9));
  else if (target.startsWith("@")) seen.mentions.push(target.slice(1));
  else if (target.startsWith("!date^")) return label ?? "";
  else if (!target.startsWith("#")) seen.links.push(target);
  return label ?? target;
}
