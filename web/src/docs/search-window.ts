// The search: a window over the page, opened with its button, with "/" or with Ctrl+K. Its index is fetched at the
// first use.

import { type Found, type Piece, type SearchEntry, search } from "./search.ts";
import { wordsOf } from "./search-words.ts";

const { root = "..", search: indexUrl = "" } = document.documentElement.dataset;

export function offerSearch(): void {
  const button = document.querySelector<HTMLButtonElement>(".find");
  if (button === null) return;
  button.hidden = false;
  let shown: SearchWindow | null = null;
  const open = () => {
    shown ??= makeWindow();
    shown.open();
  };
  button.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const isChord = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isChord && (!isSlash || isTyping(event.target))) return;
    event.preventDefault();
    open();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null
  );
}

type SearchWindow = { open(): void };

function makeWindow(): SearchWindow {
  const dialog = element("dialog", { class: "search", "aria-label": "Search the documentation" });
  const input = element("input", {
    type: "search",
    placeholder: "Search the documentation",
    "aria-label": "Search the documentation",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "found",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = element("ul", { id: "found", role: "listbox", "aria-label": "Sections" });
  const status = element("p", { class: "search-status", role: "status" });
  const close = element("button", { type: "button", class: "search-close" });
  close.textContent = "Close";
  const head = element("div", { class: "search-head" });
  head.append(input, close);
  dialog.append(head, list, status);
  document.body.append(dialog);

  let entries: SearchEntry[] = [];
  let at = 0;
  const options = () => [...list.querySelectorAll<HTMLElement>("[role=option]")];
  const choose = (next: number) => {
    const all = options();
    at = all.length === 0 ? 0 : (next + all.length) % all.length;
    for (const [index, option] of all.entries()) {
      option.setAttribute("aria-selected", String(index === at));
    }
    const chosen = all[at];
    if (chosen === undefined) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", chosen.id);
    chosen?.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const words = wordsOf(input.value);
    const found = search(entries, input.value);
    list.replaceChildren(...found.map(toOption));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    status.textContent = words.length === 0 ? hint : sayCount(found.length, input.value);
    choose(0);
  };
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(at + 1);
    else if (event.key === "ArrowUp") choose(at - 1);
    else if (event.key === "Enter") options()[at]?.click();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => {
    const { target } = event;
    const option = target instanceof Element ? target.closest<HTMLElement>("[data-href]") : null;
    if (option?.dataset.href === undefined) return;
    // A section of the same page is reached without leaving it.
    dialog.close();
    location.assign(option.dataset.href);
  });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  const load = async () => {
    status.textContent = "Loading …";
    try {
      entries = await (await fetch(indexUrl)).json();
      show();
    } catch {
      status.textContent = "The search could not be loaded. Close it and try again.";
    }
  };
  return {
    open: () => {
      if (dialog.open) return;
      dialog.showModal();
      input.select();
      if (entries.length === 0) void load();
      else show();
    },
  };
}

const hint = "Type some words. ↑ ↓ choose, Enter opens, Esc closes.";

function sayCount(count: number, typed: string): string {
  if (count === 0) return `Nothing has “${typed.trim()}”. Try fewer or other words.`;
  return count === 1 ? "1 section" : `${count} sections`;
}

function toOption({ entry, heading, excerpt }: Found, at: number): HTMLElement {
  const option = element("li", {
    id: `found-${at}`,
    role: "option",
    "aria-selected": "false",
    "data-href": `${root}/docs/${entry.href}`,
  });
  const head = element("span", { class: "found-head" });
  head.append(...toMarks(heading));
  const page = element("span", { class: "found-page" });
  page.textContent = entry.heading === entry.page ? "" : entry.page;
  const text = element("span", { class: "found-text" });
  text.append(...toMarks(excerpt));
  option.append(head, page, text);
  return option;
}

function toMarks(pieces: Piece[]): Node[] {
  return pieces.map(({ text, isMatch }) => {
    if (!isMatch) return document.createTextNode(text);
    const mark = element("mark", {});
    mark.textContent = text;
    return mark;
  });
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string>,
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
