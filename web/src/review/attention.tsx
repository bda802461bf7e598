// A short list, above the buttons, of what deserves a second look. Each item leads to its place.

import { useState } from "react";
import { words } from "./words.ts";

export type AttentionItem = {
  key: string;
  text: string;
  onGo: () => void;
  isBlocking: boolean;
  /** The approver's own doing: listed, but no reason to warn. */
  isOwn: boolean;
};

const itemsAtFirst = 5;

export function Attention({ items }: { items: AttentionItem[] }) {
  const [isWhole, setWhole] = useState(false);
  if (items.length === 0) return null;
  const shown = isWhole ? items : items.slice(0, itemsAtFirst);
  return (
    <section className="attention" aria-labelledby="attention-title" id="attention" tabIndex={-1}>
      <h2 id="attention-title">{words.attention}</h2>
      <ul>
        {shown.map(({ key, text, onGo, isBlocking }) => (
          <li key={key}>
            <button type="button" className={isBlocking ? "blocking" : ""} onClick={onGo}>
              {text}
            </button>
          </li>
        ))}
        {shown.length < items.length && (
          <li>
            <button type="button" onClick={() => setWhole(true)}>
              {words.andMore(items.length - shown.length)}
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}
