// Tells whether the payload's end was on the screen, and leads there: Approve leads to the payload until then.

import { useEffect, useState } from "react";

const endId = "payload-end";
const barId = "decision";
/** The part of a screen that one press scrolls, so that the last line read stays in sight. */
const screenShare = 0.8;

/** `isWhole`: everything is open and drawn. Before that, an end isn't the end. */
export function useEndSeen(isWhole: boolean): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const end = document.getElementById(endId);
    if (isSeen || !isWhole || end === null) return;
    // The bar covers the lower edge of the screen.
    const covered = document.getElementById(barId)?.offsetHeight ?? 0;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: `0px 0px -${covered}px 0px` },
    );
    observer.observe(end);
    return () => observer.disconnect();
  });
  return isSeen;
}

/** First to the payload's start, then on by a screen, or by half of the rest of a very long one. */
export function leadToEnd(): void {
  const payload = document.getElementById("payload");
  const end = document.getElementById(endId);
  if (payload === null || end === null) return;
  if (moveInside(end.closest(".raw"))) return;
  const bar = document.getElementById(barId)?.offsetHeight ?? 0;
  const room = innerHeight - bar;
  const top = payload.getBoundingClientRect().top;
  const left = end.getBoundingClientRect().bottom - room + 16;
  const screen = room * screenShare;
  const isBegun = top < room / 2;
  // If it fits on one screen, it is shown whole.
  const step = isBegun || left < top ? Math.min(left, Math.max(screen, left / 2)) : top - 16;
  scrollBy({ top: step, behavior: behavior() });
}

/** The JSON view scrolls within its own frame. Returns whether it could scroll any further. */
function moveInside(frame: Element | null): boolean {
  if (frame === null) return false;
  const left = frame.scrollHeight - frame.clientHeight - frame.scrollTop;
  if (left <= 1) return false;
  frame.scrollIntoView({ block: "nearest" });
  const step = Math.max(frame.clientHeight * screenShare, left / 2);
  frame.scrollBy({ top: Math.min(left, step), behavior: behavior() });
  return true;
}

function behavior(): ScrollBehavior {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
