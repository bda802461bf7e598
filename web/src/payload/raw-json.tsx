// JSON as plain text, with everything hidden in it visible.

import { type ReactNode, useLayoutEffect } from "react";
import { Visible } from "../look/visible-text.tsx";

type RawJsonProps = {
  text: string;
  label: string;
  /** Called once the whole text is in the document. */
  onDrawn?: () => void;
  /** Stands directly behind the text. */
  end?: ReactNode;
};

export function RawJson({ text, label, onDrawn, end }: RawJsonProps) {
  useLayoutEffect(() => onDrawn?.(), [text]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="raw" tabIndex={0} aria-label={label}>
      <pre translate="no">
        <Visible text={text} isJson />
      </pre>
      {end}
    </section>
  );
}
