// Keeps deciding buttons inert for a moment after they appear: nobody can have read them yet.

import { useEffect, useState } from "react";

const inertMs = 700;

export function useReady(): boolean {
  return useReadySince(true);
}

/** Ready a moment after it became possible, and not once it is impossible. */
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
