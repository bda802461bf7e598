// What is typed into a field whose value lives elsewhere: told after a pause, and taken over when it changes there. What
// one types meanwhile is never overwritten by what one typed before.

import { useEffect, useRef, useState } from "react";

type Typed = {
  typed: string;
  setTyped: (text: string) => void;
  /** Tells it at once. */
  tell: (text: string) => void;
};

type Telling = {
  pauseMs: number;
  /** Where blanks at the ends mean nothing: then they are typed and not told. */
  isTrimmed: boolean;
  onTyped: (text: string) => void;
};

export function useTyped(value: string, { pauseMs, isTrimmed, onTyped }: Telling): Typed {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  const latest = useRef(onTyped);
  latest.current = onTyped;
  // Changed from elsewhere: a reset, or the way back.
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
