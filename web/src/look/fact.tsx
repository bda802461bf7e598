// One fact of a list of them: what it is called, and what it is.

import type { ReactNode } from "react";

type FactProps = {
  name: string;
  /** For whoever is led to it from elsewhere on the page. */
  id?: string;
  children: ReactNode;
};

export function Fact({ name, id, children }: FactProps) {
  return (
    <div {...(id === undefined ? {} : { id, tabIndex: -1 })}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
