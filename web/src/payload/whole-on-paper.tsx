// The whole document as plain text, on paper alone, when parts of its readable view are not in the page. Nothing counts
// as seen by it: paper may be printed by somebody who hasn't read it.

import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";

/** Folded containers, entries that aren't shown yet, texts that are cut, and rows on their way. */
const unprinted =
  '.rows-root [aria-expanded="false"], .rows-root .row-more, .rows-root .button-inline, .payload-opening > div';

/** With `isInstead` the readable view stays off the paper: it marks nothing that the text lacks. */
type WholeOnPaperProps = { text: string; isInstead: boolean };

export function WholeOnPaper({ text, isInstead }: WholeOnPaperProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    const draw = () => {
      const isPartial = place.current?.closest(".payload")?.querySelector(unprinted) != null;
      // The paper is laid out as soon as this event ends.
      flushSync(() => setDrawn(isPartial));
    };
    const forget = () => setDrawn(false);
    addEventListener("beforeprint", draw);
    addEventListener("afterprint", forget);
    return () => {
      removeEventListener("beforeprint", draw);
      removeEventListener("afterprint", forget);
    };
  }, []);
  const name = isDrawn && isInstead ? "paper-whole paper-instead" : "paper-whole";
  return (
    <div ref={place} className={name}>
      {isDrawn && (
        <>
          {!isInstead && <p>{words.wholeOnPaper}</p>}
          <pre translate="no">
            <Visible text={text} isJson />
          </pre>
        </>
      )}
    </div>
  );
}
