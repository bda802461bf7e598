// All stages in their order: how many approvals of the current text each needs and has, by whom, and their notes.

import type { ReviewStage, ReviewVoting } from "../../../../server/src/wire/review-contract.ts";
import { Quote } from "../../look/quote.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { isCounted } from "./rights.ts";
import { countOf } from "./said.ts";
import { Theirs } from "./said-text.tsx";
import { VoteBy } from "./vote-by.tsx";

export const stagesId = "stages";

type StageListProps = { voting: ReviewVoting; isDecided: boolean };

export function StageList({ voting, isDecided }: StageListProps) {
  const { stages } = voting;
  if (!isCounted(voting)) return null;
  return (
    <section className="said" aria-labelledby="stages-title" id={stagesId} tabIndex={-1}>
      <h2 id="stages-title">{words.voting.stages}</h2>
      <ol className="stage-list">
        {stages.map((stage, at) => (
          <li key={at} className="stage-item">
            <StageHead
              stage={stage}
              place={stages.length === 1 ? null : words.voting.stage(at + 1, stages.length)}
              state={isDecided ? null : stateOf(voting, at + 1)}
            />
            <Votes stage={stage} />
          </li>
        ))}
      </ol>
    </section>
  );
}

type StageHeadProps = { stage: ReviewStage; place: string | null; state: string | null };

function StageHead({ stage, place, state }: StageHeadProps) {
  return (
    <p className="stage-line">
      {place !== null && <span className="quiet">{place}</span>} <Theirs text={stage.name} />{" "}
      <strong>{countOf(stage)}</strong> {state !== null && <span className="quiet">{state}</span>}
    </p>
  );
}

function Votes({ stage: { approvals } }: { stage: ReviewStage }) {
  if (approvals.length === 0) return <p className="quiet small">{words.voting.nobodyYet}</p>;
  return (
    <ul className="vote-list vote-list-whole">
      {approvals.map((vote) => (
        <li key={`${vote.email} ${vote.at}`}>
          <VoteBy vote={vote} />
          {vote.note !== null && (
            <Quote label={words.approverWrote}>
              <Visible text={vote.note} isMultiLine />
            </Quote>
          )}
        </li>
      ))}
    </ul>
  );
}

function stateOf({ stages, stage }: ReviewVoting, number: number): string {
  const { complete, open, later } = words.voting.stageStates;
  const { required, approvals } = stages[number - 1] ?? { required: 0, approvals: [] };
  if (approvals.length >= required) return complete;
  return number === stage ? open : later;
}
