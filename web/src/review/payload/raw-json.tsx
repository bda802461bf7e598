// The payload as the JSON text it is, with everything hidden in it visible.

import { Visible } from "../visible-text.tsx";

export function RawJson({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="raw" tabIndex={0} aria-label={label}>
      <pre>
        <Visible text={text} isJson />
      </pre>
    </section>
  );
}
