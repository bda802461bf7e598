// Remembers, in this browser only, in which workspaces the first steps are hidden.

import { useState } from "react";
import { recall, remember } from "../session/browser-memory.ts";

export function useHiddenSteps(workspaceId: string): [isHidden: boolean, hide: () => void] {
  const storageKey = `countersign.first-steps.${workspaceId}`;
  const [isHidden, setHidden] = useState(() => recall("device", storageKey) === "hidden");
  const hide = () => {
    setHidden(true);
    remember("device", storageKey, "hidden");
  };
  return [isHidden, hide];
}
