// The frame around others' words. Nothing of ours ever stands inside one, so their text can't pose as ours.

import type { ReactNode } from "react";

type QuoteProps = { label: string; id?: string; children: ReactNode };

export function Quote({ label, id, children }: QuoteProps) {
  return (
    <figure className="quote" {...(id === undefined ? {} : { id, tabIndex: -1 })}>
      <figcaption>{label}</figcaption>
      <blockquote>{children}</blockquote>
    </figure>
  );
}
