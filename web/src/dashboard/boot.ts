// Begins the dashboard: the first and smallest script, so that a page whose program doesn't arrive says so instead of
// staying empty. Until then the HTML shows our mark and a sentence.

import { onServiceBack } from "./service/presence.ts";

const failed =
  "The dashboard could not be loaded. Check your connection, then load it again. Nothing you saved is lost.";

/** Scripts wait for style sheets, so one without rules by now has failed. */
function areStylesThere(): boolean {
  const links = document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]');
  return [...links].every(({ sheet }) => sheet !== null);
}

async function begin(): Promise<void> {
  if (!areStylesThere()) throw new Error("A style sheet is missing.");
  await import("./main.tsx");
}

begin().catch((fault: unknown) => {
  const words = document.getElementById("boot-words");
  // Later than that the page has error messages of its own.
  if (words === null) throw fault;
  words.textContent = failed;
  document.getElementById("boot")?.classList.add("boot-failed");
  onServiceBack(() => location.reload());
});
