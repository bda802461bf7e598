// The mark, a bracket countersigned by a second one, and the wordmark.

import { words } from "./words.ts";

export function Brand() {
  return (
    <span className="brand">
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path d="M8 3H3.5v14H8" />
        <path d="M9.5 6.5H16.5v7H9.5" className="brand-second" />
      </svg>
      {words.brand}
    </span>
  );
}
