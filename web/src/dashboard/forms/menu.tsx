// A menu behind a button, on Radix's: arrow keys walk, letters jump, Escape closes.

import * as Dropdown from "@radix-ui/react-dropdown-menu";
import { type ReactNode, useState } from "react";

type MenuProps = {
  /** One button. */
  trigger: ReactNode;
  children: ReactNode;
};

export function Menu({ trigger, children }: MenuProps) {
  // Kept here, so that the container is looked for when the menu opens: before, there may be none yet.
  const [isOpen, setOpen] = useState(false);
  return (
    <Dropdown.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <Dropdown.Trigger asChild>{trigger}</Dropdown.Trigger>
      <Dropdown.Portal container={landmark()}>
        <Dropdown.Content className="menu" align="start" sideOffset={6} collisionPadding={8}>
          {children}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  );
}

/** A menu floats over the page, but landmark navigation must still find it in the page. */
function landmark(): HTMLElement {
  return document.getElementById("main") ?? document.body;
}

export function MenuItem({ onSelect, children }: { onSelect: () => void; children: ReactNode }) {
  return (
    <Dropdown.Item className="menu-item" onSelect={onSelect}>
      {children}
    </Dropdown.Item>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Dropdown.Label className="menu-label">{children}</Dropdown.Label>;
}

export function MenuLine() {
  return <Dropdown.Separator className="menu-line" />;
}
