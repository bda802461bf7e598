// A moment in the reader's own words, and on demand the exact one in UTC.

import { useState } from "react";
import { toLocalTime } from "./local-time.ts";
import { words } from "./words.ts";

export function Instant({ at }: { at: string }) {
  const [isExact, setExact] = useState(false);
  const exact = `${at.replace("T", " ").replace("Z", "")} UTC`;
  return (
    <button
      type="button"
      className="instant"
      aria-pressed={isExact}
      title={isExact ? undefined : `${exact}`}
      onClick={() => setExact(!isExact)}
    >
      <time dateTime={at}>{isExact ? exact : toLocalTime(at)}</time>
      <span className="sr-only">. {words.time.showExact}</span>
    </button>
  );
}
