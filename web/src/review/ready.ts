// Buttons that decide are inert for a moment after they appear: nobody can have read what they say yet.

import { useEffect, useState } from "react";

const inertMs = 700;

export function useReady(): boolean {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), inertMs);
    return () => clearTimeout(timer);
  }, []);
  return isReady;
}
