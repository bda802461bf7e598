// An empty list: says what will appear here and what to do next.

import type { ReactNode } from "react";

type EmptyProps = { title: string; children?: ReactNode; actions?: ReactNode };

export function Empty({ title, children, actions }: EmptyProps) {
  return (
    <section className="empty">
      <svg className="empty-mark" viewBox="0 0 20 20" width="28" height="28" aria-hidden="true">
        <path d="M8 3H3.5v14H8" />
        <path d="M9.5 6.5h7v7h-7" className="brand-second" />
      </svg>
      <h2>{title}</h2>
      {children !== undefined && <div className="empty-words">{children}</div>}
      {actions !== undefined && <div className="empty-actions">{actions}</div>}
    </section>
  );
}
