// One part of the settings, under its name.

import { type ReactNode, useId } from "react";

type PartProps = { title: string; children: ReactNode };

export function Part({ title, children }: PartProps) {
  const id = useId();
  return (
    <section className="settings-part" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
