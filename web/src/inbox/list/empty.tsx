// A list without rows: says what will appear in it.

import type { ReactNode } from "react";

type EmptyProps = { title: string; what: string; children?: ReactNode };

export function Empty({ title, what, children }: EmptyProps) {
  return (
    <div className="list-empty">
      <p className="list-empty-title">{title}</p>
      <p>{what}</p>
      {children}
    </div>
  );
}
