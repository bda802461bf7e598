// A time in the reader's own words, and on demand the exact one in UTC.

import { useState } from "react";
import { words } from "../words.ts";
import { toExactTime } from "./exact-time.ts";
import { toLocalTime } from "./local-time.ts";

type InstantProps = {
  at: string;
  /** Day and time by default; or other words, such as "3 minutes ago". */
  said?: string;
};

export function Instant({ at, said = toLocalTime(at) }: InstantProps) {
  const [isExact, setExact] = useState(false);
  const exact = toExactTime(at);
  return (
    <button
      type="button"
      className="instant"
      aria-pressed={isExact}
      title={isExact ? undefined : exact}
      onClick={() => setExact(!isExact)}
    >
      <time dateTime={at}>{isExact ? exact : said}</time>
      <span className="sr-only">. {words.time.showExact}</span>
    </button>
  );
}
