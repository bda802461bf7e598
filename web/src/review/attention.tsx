// A short list, above the buttons, of what deserves a second look. Each item leads to its place. What the agent wrote
// stands in a frame within our sentence, so that a key of the payload cannot speak for us.

import { Fragment, useState } from "react";
import type { Quoted, Sentence } from "./payload/findings.ts";
import { words } from "./words.ts";

export type AttentionItem = {
  key: string;
  sentence: Sentence;
  /** How many places it stands for. */
  places: number;
  onGo: () => void;
  isBlocking: boolean;
  /** The approver's own doing: listed, but no reason to warn. */
  isOwn: boolean;
};

const itemsAtFirst = 5;
const itemsPerPage = 50;

export function Attention({ items }: { items: AttentionItem[] }) {
  const [shownMax, setShownMax] = useState(itemsAtFirst);
  if (items.length === 0) return null;
  const rest = items.slice(shownMax).reduce((sum, { places }) => sum + places, 0);
  return (
    <section className="attention" aria-labelledby="attention-title" id="attention" tabIndex={-1}>
      <h2 id="attention-title">{words.attention}</h2>
      <ul>
        {items.slice(0, shownMax).map(({ key, sentence, onGo, isBlocking }) => (
          <li key={key}>
            <button type="button" className={isBlocking ? "blocking" : ""} onClick={onGo}>
              {sentence.map((part, at) => (
                <Fragment key={at}>
                  {typeof part === "string" ? part : showQuoted(part.quoted)}
                </Fragment>
              ))}
            </button>
          </li>
        ))}
        {rest > 0 && (
          <li key="more">
            <button type="button" onClick={() => setShownMax(shownMax + itemsPerPage)}>
              {words.andMore(rest)}
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}

/** The chips have no label of their own: the button is called what it says. */
function showQuoted(quoted: readonly Quoted[]) {
  return (
    <code className="quoted" translate="no">
      <bdi>
        {quoted.map((part, at) => (
          <Fragment key={at}>
            {at > 0 && " "}
            {"text" in part ? part.text : <span className="chip">{part.chip}</span>}
          </Fragment>
        ))}
      </bdi>
    </code>
  );
}
