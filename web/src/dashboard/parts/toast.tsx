// A short message that something was done. It disappears by itself, blocks nothing, and is read aloud politely.

import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import { Icon, type IconName } from "./icon.tsx";

type Toast = (said: ReactNode, icon?: IconName) => void;

const ToastContext = createContext<Toast>(() => {});
const shownForMs = 5_000;

/** `const toast = useToast(); toast("Saved.");` */
export function useToast(): Toast {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ said: ReactNode; icon: IconName; number: number } | null>(
    null,
  );
  const toast = useCallback<Toast>((said, icon = "check") => {
    setShown((last) => ({ said, icon, number: (last?.number ?? 0) + 1 }));
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
            <Icon name={shown.icon} />
            <span>{shown.said}</span>
          </p>
        )}
      </div>
    </ToastContext>
  );
}
