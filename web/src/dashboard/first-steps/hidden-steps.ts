// Remembers, in this browser only, in which workspaces the first steps were put away.

import { useState } from "react";

export function useHiddenSteps(workspaceId: string): [isHidden: boolean, hide: () => void] {
  const storageKey = `countersign.first-steps.${workspaceId}`;
  const [isHidden, setHidden] = useState(() => read(storageKey) === "hidden");
  const hide = () => {
    setHidden(true);
    write(storageKey, "hidden");
  };
  return [isHidden, hide];
}

/** A browser may allow no storage; then they are put away until the page is loaded again. */
function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {}
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
