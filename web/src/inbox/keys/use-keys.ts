// Hears the keys of the inbox, and does with the page what a finger would do.

import { useEffect, useRef, useState } from "react";
import { actionOf, type KeyAction, moveTo } from "./keys.ts";

type KeyOptions = {
  column: { readonly current: HTMLElement | null };
  onHelp: () => void;
  onBack: () => void;
};

const usedKey = "countersign.keys";

/** Whether the keys are used: a person who speaks to their computer types letters without meaning keys. */
export function useKeys(options: KeyOptions): [boolean, (isUsed: boolean) => void] {
  const [isUsed, setUsed] = useState(() => recall() !== "off");
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    if (!isUsed) return;
    const onKey = (event: KeyboardEvent) => {
      const action = actionOf({
        key: event.key,
        repeat: event.repeat,
        hasModifier: event.ctrlKey || event.metaKey || event.altKey,
        isShifted: event.shiftKey,
        isTyping: event.isComposing || event.defaultPrevented || isField(event.target),
        isEditing: document.querySelector("#payload [data-view=edit][aria-pressed=true]") !== null,
        hasDialog: document.querySelector("dialog[open]") !== null,
      });
      if (action !== null && act(action, latest.current)) event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isUsed]);
  return [
    isUsed,
    (isWanted) => {
      remember(isWanted ? null : "off");
      setUsed(isWanted);
    },
  ];
}

/** Returns whether there was anything to do. */
function act(action: KeyAction, { column, onHelp, onBack }: KeyOptions): boolean {
  switch (action) {
    case "next":
    case "previous":
      return move(column.current, action);
    case "approve":
      return pressIn(column.current, ".button-primary");
    case "reject":
      return pressIn(column.current, ".button-quiet-danger");
    case "edit":
      return press("#payload [data-view=edit]");
    case "help":
      onHelp();
      return true;
    case "back":
      onBack();
      return true;
    default:
      return action satisfies never;
  }
}

/** From the row with the focus, or from that of the open request. */
function move(column: HTMLElement | null, action: "next" | "previous"): boolean {
  if (column === null || column.getClientRects().length === 0) return false;
  const rows = [...column.querySelectorAll<HTMLElement>(".row-words")];
  const focused = rows.findIndex((row) => row.closest("li")?.contains(document.activeElement));
  const open = rows.findIndex((row) => row.getAttribute("aria-current") === "page");
  const to = moveTo(focused === -1 ? open : focused, rows.length, action);
  if (to === null) return false;
  rows[to]?.focus();
  return true;
}

/** While rows are selected there are two bars: that of the list, unless the reader is in the open request. */
function pressIn(column: HTMLElement | null, button: string): boolean {
  const isReading = document.querySelector(".inbox-request")?.contains(document.activeElement);
  const bars = [".several-bar", "#decision"];
  if (isReading === true && column !== null) bars.reverse();
  return bars.some((bar) => press(`${bar} ${button}`));
}

/** The button says itself why it can't be pressed yet. */
function press(selector: string): boolean {
  const button = document.querySelector<HTMLElement>(selector);
  if (button === null || button.getClientRects().length === 0) return false;
  button.focus({ preventScroll: true });
  button.click();
  return true;
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches("input:not([type=checkbox], [type=radio]), textarea, select")
  );
}

function recall(): string | null {
  try {
    return localStorage.getItem(usedKey);
  } catch {
    return null;
  }
}

function remember(value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(usedKey);
    else localStorage.setItem(usedKey, value);
  } catch {
    // It holds until the page is left.
  }
}
