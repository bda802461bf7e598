// The stages of a request on which several people vote: who has approved this text, and who is still awaited.

import { Fragment } from "react";
import type {
  AwaitedSeat,
  CountedVote,
  RequestVoting,
  VotingStage,
  VotingStep,
} from "../../../../../server/src/wire/dashboard-voting.ts";
import { describeDuration } from "../../../look/time/duration.ts";
import { Visible } from "../../../look/visible-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { When } from "../../parts/when.tsx";
import { approvalsIn } from "./voting-words.ts";
import "./stages.css";

type StagesProps = { voting: RequestVoting; isPending: boolean };

export function Stages({ voting, isPending }: StagesProps) {
  const { stages } = voting;
  return (
    <section className="said" aria-labelledby="stages-title">
      <h2 id="stages-title">Approvals</h2>
      {isPending && <Trouble voting={voting} />}
      <ol className="stages">
        {stages.map((stage, at) => (
          <Stage
            key={at}
            stage={stage}
            place={stages.length === 1 ? null : `Stage ${at + 1}`}
            isPending={isPending}
          />
        ))}
      </ol>
    </section>
  );
}

/** Why nobody can go on, and what helps. */
function Trouble({ voting: { stuckAt, unreachableAt } }: { voting: RequestVoting }) {
  if (stuckAt === null && unreachableAt === null) return null;
  return (
    <div className="problem">
      <Icon name="alert" />
      <p>
        {stuckAt !== null ? (
          <>
            Too few people are left to approve it, since <When at={stuckAt} />. Add people to the
            group again, or cancel the request and let the agent ask others.
          </>
        ) : (
          <>
            No mail of the open stage could be delivered, since <When at={unreachableAt ?? ""} />.
            Check the addresses below, or cancel the request and let the agent ask others.
          </>
        )}
      </p>
    </div>
  );
}

const stateWords = { complete: "complete", open: "open", later: "not asked yet" } as const;

type StageProps = { stage: VotingStage; place: string | null; isPending: boolean };

function Stage({ stage, place, isPending }: StageProps) {
  const { name, isGroup, required, state, votes, awaited, steps } = stage;
  const stateShown = state === "open" && !isPending ? null : stateWords[state];
  return (
    <li className={`stage stage-${state}`}>
      <div className="stage-head">
        <h3>
          {place !== null && <span className="quiet">{place}</span>} <Visible text={name} />{" "}
          {isGroup && <span className="quiet">group</span>}
        </h3>
        <span className="stage-count">
          {approvalsIn(stage)} of {required} approved
        </span>
        {stateShown !== null && <span className="badge">{stateShown}</span>}
      </div>
      {votes.length + awaited.length > 0 && (
        <ul className="stage-people">
          {votes.map((vote) => (
            <Vote key={vote.email} vote={vote} />
          ))}
          <Awaited awaited={awaited} />
        </ul>
      )}
      {isPending && steps.some(({ doneAt }) => doneAt === null) && <Steps steps={steps} />}
    </li>
  );
}

function Vote({ vote: { email, for: forEmail, verdict, at } }: { vote: CountedVote }) {
  return (
    <li className={`stage-${verdict}`}>
      <span>
        <Visible text={email} />
        {forEmail !== null && (
          <span className="quiet">
            {" "}
            for <Visible text={forEmail} />
          </span>
        )}
      </span>
      <span className="quiet">
        {verdict === "approve" ? "approved" : "rejected"} <When at={at} isRelative />
      </span>
    </li>
  );
}

/** More are folded: a group may have a hundred members. */
const shownMax = 8;

function Awaited({ awaited }: { awaited: readonly AwaitedSeat[] }) {
  const rest = awaited.slice(shownMax);
  return (
    <>
      {awaited.slice(0, shownMax).map((seat) => (
        <Seat key={seat.email} seat={seat} />
      ))}
      {rest.length > 0 && (
        <li>
          <details className="fold">
            <summary>{rest.length} more can still vote</summary>
            <ul className="stage-people">
              {rest.map((seat) => (
                <Seat key={seat.email} seat={seat} />
              ))}
            </ul>
          </details>
        </li>
      )}
    </>
  );
}

function Seat({ seat }: { seat: AwaitedSeat }) {
  const { email, voters, neededInStage } = seat;
  const isOwn = voters.some((voter) => voter.email.toLowerCase() === email.toLowerCase());
  const opened = voters.find(({ openedAt }) => openedAt !== null)?.openedAt ?? null;
  return (
    <li className="stage-awaited">
      <span>
        {voters.map((voter, at) => (
          <Fragment key={voter.email}>
            {at > 0 && <span className="quiet"> or </span>}
            <Visible text={voter.email} />
          </Fragment>
        ))}
        {!isOwn && (
          <span className="quiet">
            {" "}
            for <Visible text={email} />
          </span>
        )}
      </span>
      <span className="quiet">
        {neededInStage !== null ? (
          `needed in stage ${neededInStage}`
        ) : opened === null ? (
          "awaited, not opened yet"
        ) : (
          <>
            awaited, opened <When at={opened} isRelative />
          </>
        )}
      </span>
    </li>
  );
}

function Steps({ steps }: { steps: readonly VotingStep[] }) {
  return (
    <ul className="stage-steps quiet">
      {steps
        .filter(({ doneAt }) => doneAt === null)
        .map(({ name, afterMinutes, dueAt }, at) => (
          <li key={at}>
            {dueAt === null ? (
              <>
                If it stays open for {describeDuration(afterMinutes * 60_000)},{" "}
                <Visible text={name} /> is asked, too
              </>
            ) : (
              <>
                <Visible text={name} /> is asked, too, <When at={dueAt} isRelative />
              </>
            )}
          </li>
        ))}
    </ul>
  );
}
