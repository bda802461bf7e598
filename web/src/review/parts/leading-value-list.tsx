// The first values of the payload, for the second step: a hurried reader sees what is about to happen.

import { useMemo } from "react";
import { InOrder, Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { nameOf } from "../../payload/tree-context.ts";
import { beginningOf, leadingValues } from "./leading-values.ts";

const valuesMax = 5;
const charactersMax = 120;

export function LeadingValueList({ text }: { text: string }) {
  const { values, more } = useMemo(() => leadingValues(text, valuesMax), [text]);
  return (
    <>
      <h3>{words.confirm.values}</h3>
      <dl className="leading">
        {values.map(({ path, text: value }) => (
          <div key={JSON.stringify(path)}>
            <dt>
              <InOrder text={nameOf(path)} />
            </dt>
            <dd>
              <Value text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {more > 0 && <p className="quiet small">{words.confirm.moreValues(more)}</p>}
    </>
  );
}

function Value({ text }: { text: string }) {
  const { start, left } = beginningOf(text, charactersMax);
  return (
    <>
      <Visible text={start} isJson />
      {left > 0 && <span className="quiet small"> … {words.confirm.moreCharacters(left)}</span>}
    </>
  );
}
