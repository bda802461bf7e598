// Text in a field whose value lives elsewhere: reported after a pause, and replaced when the value changes there. An
// older value never overwrites newer typing.

import { useEffect, useRef, useState } from "react";

type Typed = {
  typed: string;
  setTyped: (text: string) => void;
  /** Reports it at once. */
  tell: (text: string) => void;
};

type Telling = {
  pauseMs: number;
  /** True if spaces at the ends mean nothing: they may be typed, but aren't reported. */
  isTrimmed: boolean;
  onTyped: (text: string) => void;
};

export function useTyped(value: string, { pauseMs, isTrimmed, onTyped }: Telling): Typed {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  const latest = useRef(onTyped);
  latest.current = onTyped;
  // Changed from elsewhere: a reset, or the browser's back button.
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  const tell = (text: string) => {
    const meant = isTrimmed ? text.trim() : text;
    if (meant === told.current) return;
    told.current = meant;
    latest.current(meant);
  };
  useEffect(() => {
    const timer = setTimeout(() => tell(typed), pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return { typed, setTyped, tell };
}
