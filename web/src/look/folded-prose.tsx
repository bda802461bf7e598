// An agent's prose, cut to a few lines so that the payload begins on the first screen. It says how many lines more there
// are and opens in place. Its button is ours and stands below the quote, not in it. The rest is always in the document: the browser's search and screen readers find it.

import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { words } from "./words.ts";

type FoldedProseProps = {
  id: string;
  /** Sets how many lines are open, by the height of the screen: see review.css. */
  className: string;
  children: ReactNode;
};

export function FoldedProse({ id, className, children }: FoldedProseProps) {
  const text = useRef<HTMLDivElement>(null);
  const [hiddenLines, setHiddenLines] = useState(0);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    const element = text.current;
    if (element === null || isOpen) return;
    const measure = () => setHiddenLines(hiddenLinesOf(element));
    measure();
    // Other widths and font sizes break lines elsewhere.
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [isOpen, children]);
  return (
    <>
      <blockquote id={id} tabIndex={-1}>
        <div className={isOpen ? className : `${className} folded`} ref={text}>
          {children}
        </div>
      </blockquote>
      {(hiddenLines > 0 || isOpen) && (
        <div className="quote-more">
          <button
            type="button"
            className="link-button"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? words.foldAgain : words.foldedLines(hiddenLines)}
          </button>
        </div>
      )}
    </>
  );
}

function hiddenLinesOf(element: HTMLElement): number {
  const lineHeight = Number.parseFloat(getComputedStyle(element).lineHeight);
  const hidden = (element.scrollHeight - element.clientHeight) / lineHeight;
  // Half a line is a mark that reaches below its letter.
  return hidden > 0.5 ? Math.max(1, Math.round(hidden)) : 0;
}
