// Chooses the colleague who decides instead. Like a decision it takes a tick and a press in two places, after a choice.

import { useEffect, useId, useRef, useState } from "react";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { useReadySince } from "../parts/ready.ts";
import { Theirs } from "../voting/said-text.tsx";
import { findColleagues } from "./colleague-search.ts";
import type { HandingOver } from "./use-hand-over.ts";

type HandOverDialogProps = { handing: HandingOver; hasTyped: boolean };

export function HandOverDialog({ handing, hasTyped }: HandOverDialogProps) {
  const { colleagues, forWhom, isSending, problem, close, give } = handing;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [titleId, whyId] = [useId(), useId()];
  const [chosen, setChosen] = useState<string | null>(null);
  const [isTicked, setTicked] = useState(false);
  const isReady = useReadySince(isTicked);
  useEffect(() => {
    dialog.current?.showModal();
    // Not a button: Enter alone must give nothing away.
    heading.current?.focus();
  }, []);
  const canGive = chosen !== null && isTicked && isReady && !isSending;
  return (
    <dialog
      className="dialog dialog-decision"
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        if (isSending) event.preventDefault();
      }}
      onClose={close}
    >
      <div className="dialog-body">
        <h2 id={titleId} tabIndex={-1} ref={heading}>
          {words.voting.handOver.title}
        </h2>
        <p>{words.voting.handOver.what}</p>
        {forWhom !== null && (
          <p>
            {words.voting.handOver.inPlaceOf}
            <Theirs text={forWhom} />
            {words.voting.handOver.inPlaceOfEnd}
          </p>
        )}
        {hasTyped && <p className="quiet">{words.voting.handOver.notPassedOn}</p>}
        {colleagues === null || colleagues.handOver === "off" ? (
          <NoColleagues handing={handing} />
        ) : (
          <Colleagues
            emails={colleagues.colleagues.map(({ email }) => email)}
            chosen={chosen}
            onChoose={(email) => {
              setChosen(email);
              // Ticked for somebody else.
              setTicked(false);
            }}
          />
        )}
      </div>
      <div className="dialog-buttons">
        {problem !== null && (
          <p className="field-error dialog-problem" role="alert">
            {problem}
          </p>
        )}
        {chosen !== null && (
          <label className="tick">
            <input
              type="checkbox"
              checked={isTicked}
              onChange={(event) => setTicked(event.currentTarget.checked)}
            />
            <span>
              {words.voting.handOver.tickBefore}
              <strong>
                <Visible text={chosen} />
              </strong>
              {words.voting.handOver.tickAfter}
            </span>
          </label>
        )}
        <button
          type="button"
          className="button button-back"
          aria-disabled={isSending}
          onClick={() => {
            if (!isSending) dialog.current?.close();
          }}
        >
          {words.confirm.back}
        </button>
        <button
          type="button"
          className="button button-yes button-primary"
          aria-disabled={!canGive}
          aria-describedby={whyId}
          onClick={() => {
            if (canGive && dialog.current?.open) give(chosen);
          }}
        >
          {isSending ? words.confirm.sending : words.voting.handOver.yes}
        </button>
        <span className="sr-only" id={whyId}>
          {whyNot(chosen, isTicked)}
        </span>
      </div>
    </dialog>
  );
}

function NoColleagues({ handing: { colleagues, problem, load } }: { handing: HandingOver }) {
  const { handOver } = words.voting;
  if (colleagues !== null) return <p>{handOver.off}</p>;
  if (problem === null) return <p className="quiet">{handOver.loading}</p>;
  return (
    <p>
      <button type="button" className="button" onClick={load}>
        {handOver.retry}
      </button>
    </p>
  );
}

type ColleaguesProps = {
  emails: readonly string[];
  chosen: string | null;
  onChoose: (email: string) => void;
};

function Colleagues({ emails, chosen, onChoose }: ColleaguesProps) {
  const { handOver } = words.voting;
  const [typed, setTyped] = useState("");
  const [searchId, hintId, name] = [useId(), useId(), useId()];
  const { shown, more } = findColleagues(emails, typed, chosen);
  return (
    <>
      <label htmlFor={searchId}>{handOver.search}</label>
      <input
        id={searchId}
        className="field"
        type="search"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={typed}
        aria-describedby={hintId}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <p className="quiet small" id={hintId} role="status">
        {hintOf(shown.length, more)}
      </p>
      <fieldset className="colleagues">
        <legend className="sr-only">{handOver.list}</legend>
        {shown.map((email) => (
          <label key={email} className="colleague">
            <input
              type="radio"
              name={name}
              checked={email === chosen}
              onChange={() => onChoose(email)}
            />
            <span>
              <Visible text={email} />
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

function hintOf(shown: number, more: number): string {
  const { handOver } = words.voting;
  if (shown === 0) return handOver.typeWhole;
  return more > 0 ? handOver.more(more) : handOver.searchHint;
}

function whyNot(chosen: string | null, isTicked: boolean): string {
  if (chosen === null) return words.voting.handOver.chooseFirst;
  return isTicked ? "" : words.confirm.tickFirst;
}
