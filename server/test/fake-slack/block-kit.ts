// Block Kit as Slack publishes it: which fields blocks, elements and views have, and how long they may be. Everything
// unknown is a flaw, so that a mistake is found here and not by Slack.

// biome-ignore lint/suspicious/noExplicitAny: what a caller sends has no shape until it is checked
type Json = any;

export type Surface = "message" | "modal";

type Check = (value: Json, at: string, surface: Surface) => string[];

type Field = { check: Check; isRequired?: boolean };
type Shape = Record<string, Field>;

const need = (check: Check): Field => ({ check, isRequired: true });
const may = (check: Check): Field => ({ check });

const text =
  (max: number, min = 0): Check =>
  (value, at) => {
    if (typeof value !== "string") return [`${at} must be a string`];
    if (value.length < min) return [`${at} must be more than ${min - 1} characters`];
    return value.length > max ? [`${at} must be less than ${max + 1} characters`] : [];
  };
const flag: Check = (value, at) => (typeof value === "boolean" ? [] : [`${at} must be a boolean`]);
const number =
  (min: number, max: number): Check =>
  (value, at) =>
    Number.isInteger(value) && value >= min && value <= max
      ? []
      : [`${at} must be a number from ${min} to ${max}`];
const oneOf =
  (...words: string[]): Check =>
  (value, at) =>
    words.includes(value) ? [] : [`${at} must be one of ${words.join(", ")}`];
const list =
  (check: Check, max: number, min = 1): Check =>
  (value, at, surface) => {
    if (!Array.isArray(value)) return [`${at} must be an array`];
    if (value.length < min) return [`${at} has too few items`];
    if (value.length > max) return [`${at} no more than ${max} items allowed`];
    return value.flatMap((each, index) => check(each, `${at}/${index}`, surface));
  };
const shaped =
  (shape: Shape): Check =>
  (value, at, surface) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return [`${at} must be an object`];
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(shape, name));
    const missing = Object.keys(shape).filter(
      (name) => shape[name]?.isRequired && value[name] === undefined,
    );
    return [
      ...unknown.map((name) => `${at}/${name} is not a known field`),
      ...missing.map((name) => `${at} lacks the field ${name}`),
      ...Object.entries(shape).flatMap(([name, field]) =>
        value[name] === undefined ? [] : field.check(value[name], `${at}/${name}`, surface),
      ),
    ];
  };
/** By the word in `type`. */
const typed =
  (shapes: Record<string, Shape>): Check =>
  (value, at, surface) => {
    const type = typeof value === "object" && value !== null ? value.type : undefined;
    const shape =
      typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    if (shape === undefined) return [`${at} unsupported type: ${String(type)}`];
    return shaped({ type: need(oneOf(type)), ...shape })(value, at, surface);
  };

const plainText = (max: number): Check =>
  typed({ plain_text: { text: need(text(max, 1)), emoji: may(flag) } });
const anyText = (max: number): Check =>
  typed({
    plain_text: { text: need(text(max, 1)), emoji: may(flag) },
    mrkdwn: { text: need(text(max, 1)), verbatim: may(flag) },
  });

const id = may(text(255));
const url: Check = (value, at) => {
  const flaws = text(3_000, 1)(value, at, "message");
  return flaws.length > 0 || /^https?:\/\/\S+$/.test(value) ? flaws : [`${at} is no URL`];
};

const confirm = shaped({
  title: need(plainText(100)),
  text: need(anyText(300)),
  confirm: need(plainText(30)),
  deny: need(plainText(30)),
  style: may(oneOf("primary", "danger")),
});
const button: Shape = {
  text: need(plainText(75)),
  action_id: id,
  url: may(url),
  value: may(text(2_000)),
  style: may(oneOf("primary", "danger")),
  confirm: may(confirm),
  accessibility_label: may(text(75)),
};
const option = shaped({
  text: need(anyText(75)),
  value: need(text(150, 1)),
  description: may(plainText(75)),
});
const choices: Shape = {
  action_id: id,
  options: need(list(option, 10)),
  initial_option: may(option),
  confirm: may(confirm),
  focus_on_load: may(flag),
};
const plainTextInput: Shape = {
  action_id: id,
  initial_value: may(text(3_000)),
  multiline: may(flag),
  min_length: may(number(0, 3_000)),
  max_length: may(number(1, 3_000)),
  focus_on_load: may(flag),
  placeholder: may(plainText(150)),
};

const style = may(
  shaped({ bold: may(flag), italic: may(flag), strike: may(flag), code: may(flag) }),
);
// Slack publishes no bound of its own for these; the one of text objects is on the safe side.
const richText: Record<string, Shape> = {
  text: { text: need(text(3_000, 1)), style },
  link: { url: need(url), text: may(text(3_000)), unsafe: may(flag), style },
  emoji: { name: need(text(255, 1)), unicode: may(text(255)) },
  user: { user_id: need(text(255, 1)), style },
  channel: { channel_id: need(text(255, 1)), style },
  usergroup: { usergroup_id: need(text(255, 1)), style },
  broadcast: { range: need(oneOf("here", "channel", "everyone")) },
  date: {
    timestamp: need(number(0, 9_999_999_999)),
    format: need(text(255, 1)),
    url: may(url),
    fallback: may(text(255)),
  },
};
const inlines = list(typed(richText), 500, 0);
const sectionOfText: Shape = { elements: need(inlines) };
const richTextParts: Record<string, Shape> = {
  rich_text_section: sectionOfText,
  rich_text_quote: { ...sectionOfText, border: may(number(0, 1)) },
  rich_text_preformatted: {
    elements: need(
      list(
        typed({ text: { text: need(text(3_000, 1)), style }, link: richText.link ?? {} }),
        500,
        0,
      ),
    ),
    border: may(number(0, 1)),
    language: may(text(255)),
  },
  rich_text_list: {
    style: need(oneOf("bullet", "ordered")),
    elements: need(list(typed({ rich_text_section: sectionOfText }), 500, 0)),
    indent: may(number(0, 8)),
    offset: may(number(0, 9_999)),
    border: may(number(0, 1)),
  },
};

const blocks: Record<string, Shape> = {
  actions: {
    elements: need(list(typed({ button, radio_buttons: choices, checkboxes: choices }), 25)),
  },
  context: { elements: need(list(anyText(3_000), 10)) },
  divider: {},
  header: { text: need(plainText(150)) },
  section: {
    text: may(anyText(3_000)),
    fields: may(list(anyText(2_000), 10)),
    accessory: may(typed({ button })),
    expand: may(flag),
  },
  rich_text: { elements: need(list(typed(richTextParts), 100)) },
};
const inputBlock: Shape = {
  label: need(plainText(2_000)),
  element: need(
    typed({ plain_text_input: plainTextInput, radio_buttons: choices, checkboxes: choices }),
  ),
  dispatch_action: may(flag),
  hint: may(plainText(2_000)),
  optional: may(flag),
};

const checkBlock: Check = (block, at, surface) => {
  const known = surface === "modal" ? { ...blocks, input: inputBlock } : blocks;
  const all = Object.fromEntries(
    Object.entries(known).map(([type, shape]) => [type, { block_id: id, ...shape }]),
  );
  const flaws = typed(all)(block, at, surface);
  const isEmpty =
    block?.type === "section" && block.text === undefined && block.fields === undefined;
  return isEmpty ? [...flaws, `${at} needs text or fields`] : flaws;
};

/** What Slack counts of all blocks of a message together: characters, and some for the blocks themselves. */
const messageCharactersMax = 13_200;

/** The first flaw is Slack's code; the rest says where. Null when there is none. */
export function flawOfMessageBlocks(value: Json): { error: string; messages: string[] } | null {
  if (!Array.isArray(value)) return { error: "invalid_blocks_format", messages: [] };
  const messages = [...list(checkBlock, 50, 0)(value, "", "message"), ...repeatedIds(value)];
  if (messages.length > 0) return { error: "invalid_blocks", messages };
  return JSON.stringify(value).length > messageCharactersMax
    ? { error: "msg_blocks_too_long", messages: [] }
    : null;
}

const modalShape = shaped({
  type: need(oneOf("modal")),
  title: need(plainText(24)),
  blocks: need(list(checkBlock, 100, 0)),
  close: may(plainText(24)),
  submit: may(plainText(24)),
  private_metadata: may(text(3_000)),
  callback_id: may(text(255)),
  external_id: may(text(255)),
  clear_on_close: may(flag),
  notify_on_close: may(flag),
  submit_disabled: may(flag),
});
const viewBytesMax = 250_000;

export function flawOfView(value: Json): { error: string; messages: string[] } | null {
  const messages = modalShape(value, "view", "modal");
  if (messages.length === 0) {
    messages.push(...repeatedIds(value.blocks));
    const hasInput = value.blocks.some((block: Json) => block.type === "input");
    if (hasInput && value.submit === undefined)
      messages.push("view/submit is required when an input block is within the blocks array");
  }
  if (messages.length > 0) return { error: "invalid_arguments", messages };
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > viewBytesMax ? { error: "view_too_large", messages: [] } : null;
}

/** Ids of blocks are unique, and those of actions within a block. */
function repeatedIds(value: Json[]): string[] {
  const idsOf = (items: Json[], name: string) =>
    items.map((each) => each?.[name]).filter((each) => each !== undefined);
  const isRepeated = (ids: unknown[]) => new Set(ids).size < ids.length;
  const inBlocks = value.flatMap((block) =>
    Array.isArray(block?.elements) && isRepeated(idsOf(block.elements, "action_id"))
      ? ["action_id must be unique within its block"]
      : [],
  );
  return isRepeated(idsOf(value, "block_id")) ? ["block_id must be unique", ...inBlocks] : inBlocks;
}
