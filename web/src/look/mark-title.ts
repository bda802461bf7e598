// The words of a mark on hover, and for assistive technology.

import { codeAndName, type Marked, wordsOf } from "../../../server/src/domain/shown/text/marks.ts";
import { words } from "./words.ts";

export function markTitle(marked: Marked): string {
  const { mark } = marked;
  const { titles } = words.marked;
  switch (mark.kind) {
    case "lookAlike":
      return mark.reads === null ? titles.mixes(mark.scripts) : titles.lookAlike(mark);
    case "digits":
      return titles.digits(mark.script, mark.reads);
    case "letterDigits":
      return titles.letterDigits(mark.reads);
    case "styled":
      return titles.styled(mark.reads);
    case "host":
      return titles.host(mark.ascii);
    case "leads":
      return titles.leads(mark.to);
    case "separator":
      return `${wordsOf(marked)} (${codeAndName(mark.codePoint, null)})`;
    case "pile":
    case "overlay":
      return `${wordsOf(marked)}: ${mark.names}`;
    case "harmless":
      return codeAndName(mark.codePoint, mark.name);
    default:
      return mark satisfies never;
  }
}
