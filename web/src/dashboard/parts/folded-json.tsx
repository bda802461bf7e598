// JSON that few readers need: a line that names it, and the whole once it is opened.

import { useState } from "react";
import { JsonView } from "./json-view.tsx";

type FoldedJsonProps = { title: string; hint: string; text: string };

export function FoldedJson({ title, hint, text }: FoldedJsonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="folded-json" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="fold-mark">
        <h2>{title}</h2>
        <span className="quiet small">{hint}</span>
      </summary>
      {isOpen && <JsonView title={`${title} in full`} text={text} isSubordinate />}
    </details>
  );
}
