// A link to another place of the inbox: an address of its own, and no new page.

import type { ReactNode } from "react";
import type { Route } from "./route.ts";
import { addressOf } from "./use-route.ts";

type InnerLinkProps = {
  to: Route;
  className: string;
  isCurrent?: boolean;
  onGo: (route: Route) => void;
  children: ReactNode;
};

export function InnerLink({ to, className, isCurrent = false, onGo, children }: InnerLinkProps) {
  return (
    <a
      className={className}
      href={addressOf(to)}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        // A new tab is the browser's own matter.
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onGo(to);
      }}
    >
      {children}
    </a>
  );
}
