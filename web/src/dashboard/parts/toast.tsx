// A short word that something was done. It goes by itself, stops nobody, and is read aloud politely.

import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

type Toast = (text: string) => void;

const ToastContext = createContext<Toast>(() => {});
const shownForMs = 5_000;

/** `const toast = useToast(); toast("Saved.");` */
export function useToast(): Toast {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ text: string; number: number } | null>(null);
  const toast = useCallback<Toast>((text) => {
    setShown((last) => ({ text, number: (last?.number ?? 0) + 1 }));
  }, []);
  useEffect(() => {
    if (shown === null) return;
    const timer = setTimeout(() => setShown(null), shownForMs);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <ToastContext value={toast}>
      {children}
      <div className="toasts" role="status">
        {shown !== null && (
          <p className="toast" key={shown.number}>
            <Icon name="check" />
            {shown.text}
          </p>
        )}
      </div>
    </ToastContext>
  );
}
