// Tells parts of the page when they come near the window and when they leave: one observer for all.

import { type RefObject, useEffect, useRef } from "react";
import { startGrowth } from "./growth.ts";

/** One window height above and below, so that a reader who scrolls or presses Tab finds the next part ready. */
const margin = "100% 0px";

type OnNear = (isNear: boolean) => void;

const listeners = new WeakMap<Element, OnNear>();
/** As the observer said last: later news may be handled first. */
const nearness = new WeakMap<Element, boolean>();
/** Many parts may come near at once. */
const steps = startGrowth(() => {});
let observer: IntersectionObserver | null = null;

function theObserver(): IntersectionObserver {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) nearness.set(target, isIntersecting);
      steps.addAll(
        entries.map(
          ({ target }) =>
            () =>
              tell(target),
        ),
      );
    },
    { rootMargin: margin },
  );
  return observer;
}

function tell(element: Element): void {
  listeners.get(element)?.(nearness.get(element) ?? false);
}

/** `onNear` is called after each change, and once at the beginning; null unsubscribes. */
export function useNear(part: RefObject<Element | null>, onNear: OnNear | null): void {
  const latest = useRef(onNear);
  latest.current = onNear;
  const isWatched = onNear !== null;
  useEffect(() => {
    const element = part.current;
    if (element === null || !isWatched) return;
    listeners.set(element, (isNear) => latest.current?.(isNear));
    theObserver().observe(element);
    return () => {
      listeners.delete(element);
      theObserver().unobserve(element);
    };
  }, [isWatched]);
}
