// How wide a place on the page is, now and whenever it changes. Pictures are drawn in real pixels, because a picture
// that is scaled down takes its words with it.

import { type RefObject, useLayoutEffect, useRef, useState } from "react";

export function useWidth<Place extends Element>(): [RefObject<Place | null>, number | null] {
  const place = useRef<Place>(null);
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    setWidth(Math.floor(element.getBoundingClientRect().width));
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}
