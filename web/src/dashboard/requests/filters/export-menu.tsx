// Saves the list as it is filtered as a file.

import { Menu, MenuItem, MenuLabel } from "../../forms/menu.tsx";
import { Button } from "../../parts/button.tsx";
import type { Exporting } from "./use-export.ts";

const formats = [
  { format: "csv", word: "CSV", note: "For spreadsheets" },
  { format: "jsonl", word: "JSON Lines", note: "For programs: everything, to the letter" },
] as const;

export function ExportMenu({ exporting: { isAsking, save } }: { exporting: Exporting }) {
  return (
    <Menu trigger={<Button isBusy={isAsking}>Export</Button>}>
      <MenuLabel>All requests that fit the filters</MenuLabel>
      {formats.map(({ format, word, note }) => (
        <MenuItem key={format} onSelect={() => save(format)}>
          <span className="menu-words">
            {word}
            <span className="menu-note">{note}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
