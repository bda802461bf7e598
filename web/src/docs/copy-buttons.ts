// Gives every block of code a button that copies it.

import { commandsOf } from "./commands.ts";

const saidForMs = 2_000;

export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>("figure.code")) addButton(block);
}

function addButton(block: HTMLElement): void {
  const code = block.querySelector("pre");
  if (code === null) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  const label = code.getAttribute("aria-label") ?? "";
  const say = (word: string) => {
    button.textContent = word;
    button.setAttribute("aria-label", `${word}: ${label}`);
  };
  say("Copy");
  button.addEventListener("click", async () => {
    const text = (code.textContent ?? "").replace(/\n$/, "");
    // Without encryption pages have no clipboard. Then the text is selected, ready for the keyboard.
    try {
      await navigator.clipboard.writeText(commandsOf(text));
      say("Copied");
    } catch {
      code.focus();
      getSelection()?.selectAllChildren(code);
      say("Marked");
    }
    setTimeout(() => say("Copy"), saidForMs);
  });
  block.querySelector("figcaption")?.append(button);
}
