// Keeps unsaved settings while the tab is open: another page, another tab of this page or a reload loses nothing.

import { useState } from "react";
import { recall, remember } from "../session/browser-memory.ts";

/** `name` tells the drafts of a workspace's forms apart. */
export function useKeptDraft<Draft extends object>(
  name: string,
): [Partial<Draft>, (draft: Partial<Draft>) => void] {
  const key = `countersign.${name}`;
  const [draft, setDraft] = useState(() => read<Draft>(key));
  return [
    draft,
    (next) => {
      setDraft(next);
      write(key, next);
    },
  ];
}

function read<Draft extends object>(key: string): Partial<Draft> {
  try {
    const kept: unknown = JSON.parse(recall("tab", key) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

function write(key: string, draft: object): void {
  remember("tab", key, Object.keys(draft).length === 0 ? null : JSON.stringify(draft));
}
