// One fact of a list: its name and its value.

import type { ReactNode } from "react";

type FactProps = {
  name: string;
  /** The target of links from elsewhere on the page. */
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
