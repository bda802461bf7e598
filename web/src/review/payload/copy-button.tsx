// Copies the exact characters of something, hidden ones included.

import { useEffect, useState } from "react";
import { words } from "../words.ts";
import { CheckIcon, CopyIcon } from "./icons.tsx";

const saidForMs = 1_500;

type CopyButtonProps = { label: string; text: () => string; isWide?: boolean };

export function CopyButton({ label, text, isWide = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), saidForMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Without encryption browsers have no clipboard for pages.
  if (!("clipboard" in navigator)) return null;
  const copy = () => {
    navigator.clipboard.writeText(text()).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  const said = isCopied ? words.copied : label;
  return (
    <button
      type="button"
      className={isWide ? "button" : "tool"}
      aria-label={said}
      title={said}
      onClick={copy}
    >
      {isCopied ? <CheckIcon /> : <CopyIcon />}
      {isWide && <span>{isCopied ? words.copied : words.copy}</span>}
    </button>
  );
}
