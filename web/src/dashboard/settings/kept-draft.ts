// Keeps unsaved settings while the tab is open: another page, another tab of this page or a reload loses nothing.

import { useState } from "react";
import { recall, remember } from "../session/browser-memory.ts";
import type { SettingsDraft } from "./settings-draft.ts";

export function useKeptDraft(workspaceId: string): [SettingsDraft, (draft: SettingsDraft) => void] {
  const key = `countersign.settings.${workspaceId}`;
  const [draft, setDraft] = useState(() => read(key));
  return [
    draft,
    (next) => {
      setDraft(next);
      write(key, next);
    },
  ];
}

function read(key: string): SettingsDraft {
  try {
    const kept: unknown = JSON.parse(recall("tab", key) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

function write(key: string, draft: SettingsDraft): void {
  remember("tab", key, Object.keys(draft).length === 0 ? null : JSON.stringify(draft));
}
