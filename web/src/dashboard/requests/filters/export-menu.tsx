// Saves the list as it is filtered as a file. The browser takes it as it comes, so the list may be of any length.

import { Menu, MenuLabel, MenuLink } from "../../forms/menu.tsx";
import { addressOf } from "../../service/api.ts";
import { useMembership } from "../../session/membership.ts";
import type { ChosenFilter } from "./filter-state.ts";

const formats = [
  { format: "csv", word: "CSV", note: "For spreadsheets" },
  { format: "jsonl", word: "JSON Lines", note: "For programs: everything, to the letter" },
] as const;

export function ExportMenu({ filter }: { filter: ChosenFilter }) {
  const { workspaceId } = useMembership();
  return (
    <Menu
      trigger={
        <button type="button" className="button">
          Export
        </button>
      }
    >
      <MenuLabel>All requests that fit the filters</MenuLabel>
      {formats.map(({ format, word, note }) => (
        <MenuLink
          key={format}
          href={addressOf("/workspaces/:workspaceId/requests/export", {
            params: { workspaceId },
            query: { ...filter, format },
          })}
        >
          <span className="menu-words">
            {word}
            <span className="menu-note">{note}</span>
          </span>
        </MenuLink>
      ))}
    </Menu>
  );
}
