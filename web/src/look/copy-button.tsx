// Copies the exact characters of something, hidden ones included.

import { useEffect, useState } from "react";
import { words } from "./words.ts";

const saidForMs = 1_500;

type CopyButtonProps = { label: string; text: () => string; isWide?: boolean };

export function CopyButton({ label, text, isWide = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), saidForMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Without encryption pages have no clipboard.
  if (!("clipboard" in navigator)) return null;
  const copy = () => {
    navigator.clipboard.writeText(text()).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  const said = isCopied ? words.copied : label;
  if (isWide) {
    return (
      <button type="button" className="button" aria-label={said} onClick={copy}>
        <span className={isCopied ? "icon icon-check" : "icon icon-copy"} />
        {isCopied ? words.copied : words.copy}
      </button>
    );
  }
  return (
    // biome-ignore lint/a11y/useButtonType: there is no form here, and attributes count in twenty thousand rows
    <button
      className={isCopied ? "tool tool-check" : "tool tool-copy"}
      aria-label={said}
      onClick={copy}
    />
  );
}
