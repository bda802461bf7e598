// A short list, above the buttons, of what deserves a second look. Warnings of one kind stand together, the gravest
// first. Each place is a button that leads there. The agent's words stand in a frame within our sentence, so that a key
// of the payload can't speak for us.

import { Fragment, useState } from "react";
import { InOrder } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import type { Quoted, Sentence } from "./finding-sentences.ts";

export type AttentionItem = {
  key: string;
  sentence: Sentence;
  /** The number of places it stands for. */
  places: number;
  onGo: () => void;
  isBlocking: boolean;
  /** The approver's own doing: listed, but not a warning. */
  isOwn: boolean;
  /** For warnings of one kind: each with its place, as far as they are listed. */
  group?: AttentionGroup;
};

export type AttentionGroup = {
  title: string;
  places: readonly AttentionPlace[];
  /** Leads to the first place that is not listed. */
  onGoFurther: (() => void) | null;
};

export type AttentionPlace = { sentence: Sentence; onGo: () => void };

const placesAtFirst = 3;
const placesPerStep = 50;

export function Attention({ items }: { items: AttentionItem[] }) {
  if (items.length === 0) return null;
  return (
    <section className="attention" aria-labelledby="attention-title" id="attention" tabIndex={-1}>
      <h2 id="attention-title">{words.attention}</h2>
      <ul>
        {items.map((item) => (
          <li key={item.key}>
            {item.group === undefined ? (
              <PlaceButton {...item} />
            ) : (
              <Group total={item.places} group={item.group} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

type GroupProps = { total: number; group: AttentionGroup };

function Group({ total, group: { title, places, onGoFurther } }: GroupProps) {
  const [shownMax, setShownMax] = useState(placesAtFirst);
  const shown = places.slice(0, shownMax);
  const step = Math.min(placesPerStep, places.length - shown.length);
  return (
    <>
      <h3 className="attention-kind">
        {title} {total > 1 && <span className="quiet">{words.found.placesIn(total)}</span>}
      </h3>
      <ul>
        {shown.map((place, at) => (
          <li key={at}>
            <PlaceButton {...place} />
          </li>
        ))}
        {step > 0 && (
          <li key="more">
            <button
              type="button"
              className="attention-more"
              onClick={() => setShownMax(shownMax + placesPerStep)}
            >
              {words.found.show(step, total - shown.length)}
            </button>
          </li>
        )}
        {step === 0 && onGoFurther !== null && (
          <li key="further">
            <button type="button" onClick={onGoFurther}>
              {words.found.notListed(total - shown.length)}
            </button>
          </li>
        )}
      </ul>
    </>
  );
}

type PlaceButtonProps = AttentionPlace & { isBlocking?: boolean };

function PlaceButton({ sentence, onGo, isBlocking = false }: PlaceButtonProps) {
  return (
    <button type="button" className={isBlocking ? "blocking" : ""} onClick={onGo}>
      <SentenceText sentence={sentence} />
    </button>
  );
}

export function SentenceText({ sentence }: { sentence: Sentence }) {
  return sentence.map((part, at) => (
    <Fragment key={at}>{typeof part === "string" ? part : showQuoted(part.quoted)}</Fragment>
  ));
}

/** The chips have no label of their own: the button's name is its text. */
function showQuoted(quoted: readonly Quoted[]) {
  return (
    <code className="quoted" translate="no">
      {quoted.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && " "}
          {"text" in part ? (
            <InOrder text={part.text} />
          ) : (
            <span className="chip">{part.chip}</span>
          )}
        </Fragment>
      ))}
    </code>
  );
}
