// Names that operators give to workspaces, keys and groups.

import { nameCharactersMax } from "../shown/field-limits.ts";
import { flawOfText, isBlank } from "./plain-text.ts";

/** Says what is wrong with a name, or null when it is fine. A name is one line. */
export function flawOfName(name: string): string | null {
  if (isBlank(name)) return "must not be blank";
  if (/[\r\n\t]/.test(name)) return "must be one line";
  return flawOfText(name, nameCharactersMax);
}
