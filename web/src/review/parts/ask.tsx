// The agent's own words: the summary, its name, for whom, where it is valid, why. Each stands on its own lines within one frame. Nothing of ours is
// inside but the labels between them.

import { shownAdditionsOf } from "../../../../server/src/domain/shown/submitted-fields.ts";
import type { Review } from "../../../../server/src/wire/review-contract.ts";
import { FoldedProse } from "../../look/folded-prose.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { Names } from "./names.tsx";

export function Ask(review: Review) {
  const { summary, agentName, reasoning } = review;
  return (
    <figure className="quote">
      <figcaption>{words.agentWrote}</figcaption>
      <FoldedProse id="summary" className="summary">
        <Visible text={summary} isMultiLine />
      </FoldedProse>
      <div className="quote-row" id="agent-name" tabIndex={-1}>
        <div className="quote-label">{words.agentName}</div>
        {agentName === null ? (
          <div className="quiet">{words.agentUnnamed}</div>
        ) : (
          <FoldedProse id="agent-name-text" className="name">
            <Visible text={agentName} />
          </FoldedProse>
        )}
      </div>
      {shownAdditionsOf(review).map(({ id, label, isList, texts }) => (
        <div className="quote-row" id={id} key={id} tabIndex={-1}>
          <div className="quote-label">{label}</div>
          <FoldedProse id={`${id}-text`} className={isList ? "name names" : "name"}>
            {isList ? <Names names={texts} /> : <Visible text={texts[0] ?? ""} />}
          </FoldedProse>
        </div>
      ))}
      {reasoning !== null && (
        <>
          <div className="quote-label">{words.reasoning}</div>
          <FoldedProse id="reasoning" className="prose">
            <Visible text={reasoning} isMultiLine />
          </FoldedProse>
        </>
      )}
    </figure>
  );
}
