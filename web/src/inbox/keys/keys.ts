// What a key does in the inbox. None decides: two of them press the button of the first step, as a finger would.

export type KeyAction = "next" | "previous" | "approve" | "reject" | "edit" | "help" | "back";

export type Press = {
  key: string;
  /** The key is held down. */
  repeat: boolean;
  hasModifier: boolean;
  isShifted: boolean;
  /** It belongs to a field, or to a word that is being composed. */
  isTyping: boolean;
  /** The payload is being edited: letters are meant for it, even before the editor has the focus. */
  isEditing: boolean;
  hasDialog: boolean;
};

const actions: ReadonlyMap<string, KeyAction> = new Map([
  ["j", "next"],
  ["k", "previous"],
  ["a", "approve"],
  ["r", "reject"],
  ["e", "edit"],
  ["?", "help"],
  ["escape", "back"],
]);

export function actionOf(press: Press): KeyAction | null {
  const { key, repeat, hasModifier, isShifted, isTyping, isEditing, hasDialog } = press;
  if (hasModifier || isTyping || hasDialog) return null;
  // Most keyboards have the question mark above another key.
  if (isShifted && key !== "?") return null;
  if (isEditing && key !== "Escape") return null;
  const action = actions.get(key.toLowerCase()) ?? null;
  // Held down, a key may move on, and nothing else.
  if (repeat && action !== "next" && action !== "previous") return null;
  return action;
}

/** The row that is reached from another one; from none, the first. */
export function moveTo(at: number, count: number, action: "next" | "previous"): number | null {
  if (count === 0) return null;
  if (at === -1) return action === "next" ? 0 : null;
  const to = action === "next" ? at + 1 : at - 1;
  return to < 0 || to >= count ? null : to;
}
