// The open warnings, for the second step: every kind, with its first places and the number of the rest.

import { words } from "../../look/words.ts";
import { type AttentionItem, SentenceText } from "./attention.tsx";

const placesMax = 3;

export function OpenWarnings({ items }: { items: readonly AttentionItem[] }) {
  const groups = items.flatMap(({ group, places }) =>
    group === undefined ? [] : [{ ...group, total: places }],
  );
  if (groups.length === 0) return null;
  return (
    <section className="open-warnings" aria-label={words.confirm.warnings}>
      <h3>{words.confirm.warnings}</h3>
      <ul className="open-warnings-kinds">
        {groups.map(({ title, places, total }) => (
          <li key={title}>
            <strong>{title}</strong>
            <ul className="open-warnings-places">
              {places.slice(0, placesMax).map(({ sentence }, at) => (
                <li key={at}>
                  <SentenceText sentence={sentence} />
                </li>
              ))}
            </ul>
            {total > placesMax && (
              <p className="quiet small">{words.confirm.moreWarnings(total - placesMax)}</p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
