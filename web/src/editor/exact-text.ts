// Keeps the editor's text exactly as it came in: CodeMirror would turn every carriage return into a line feed, and
// untouched text must not change by a byte.

import { EditorState } from "@codemirror/state";

/** Only a line feed ends a line. A carriage return stays a character of its line and shows as a chip. */
export const exactText = EditorState.lineSeparator.of("\n");

/**
 * Windows clipboards write CR LF for every line. In JSON that can only be white space between tokens, and a chip at the
 * end of each pasted line would look like an alarm.
 */
export function pastedText(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
