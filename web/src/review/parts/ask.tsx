// The agent's own words: the summary, its name, why. Each stands on its own lines within one frame. Nothing of ours is
// inside but the labels between them.

import type { Review } from "../../../../server/src/wire/review-contract.ts";
import { FoldedProse } from "../../look/folded-prose.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";

export function Ask({ summary, agentName, reasoning }: Review) {
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
