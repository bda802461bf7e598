// Buttons that decide are inert for a moment after they appear: nobody can have read what they say yet.

import { useEffect, useState } from "react";

const inertMs = 700;

export function useReady(): boolean {
  return useReadySince(true);
}

/** Ready a moment after it has become possible, and no longer once it is not. */
export function useReadySince(isPossible: boolean): boolean {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    if (!isPossible) return;
    const timer = setTimeout(() => setReady(true), inertMs);
    return () => {
      clearTimeout(timer);
      setReady(false);
    };
  }, [isPossible]);
  return isReady && isPossible;
}
