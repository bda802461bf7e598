// Several views of one page, one at a time. Arrow keys walk, Home and End jump; the panel is the child.

import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";

type TabsProps<Id extends string> = {
  label: string;
  tabs: readonly { id: Id; label: ReactNode }[];
  value: Id;
  onChange: (id: Id) => void;
  /** The content of the chosen tab. */
  children?: ReactNode;
};

export function Tabs<Id extends string>(props: TabsProps<Id>) {
  const { label, tabs, value, onChange, children } = props;
  const list = useRef<HTMLDivElement>(null);
  const base = useId();
  const walk = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ id }) => id === value);
    const next = tabs[targetOf(event.key, at, tabs.length) ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`#${CSS.escape(`${base}-tab-${next.id}`)}`)?.focus();
  };
  const panelId = `${base}-panel`;
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={walk}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-tab-${tab.id}`}
            aria-selected={tab.id === value}
            aria-controls={children !== undefined && tab.id === value ? panelId : undefined}
            tabIndex={tab.id === value ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {children !== undefined && (
        <div
          className="tab-panel"
          role="tabpanel"
          id={panelId}
          aria-labelledby={`${base}-tab-${value}`}
        >
          {children}
        </div>
      )}
    </>
  );
}

function targetOf(key: string, at: number, count: number): number | null {
  switch (key) {
    case "ArrowRight":
      return (at + 1) % count;
    case "ArrowLeft":
      return (at - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
