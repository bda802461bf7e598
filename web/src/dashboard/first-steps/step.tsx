// One step: its number or a check, its name, its state in a word, and the task.

import type { ReactNode } from "react";
import type { StepState } from "./place.ts";

const stateWords: Record<StepState, string> = { done: "Done", now: "Now", later: "Later" };

type StepProps = { number: number; title: string; state: StepState; children?: ReactNode };

export function Step({ number, title, state, children }: StepProps) {
  return (
    <li className={`step step-${state}`} {...(state === "now" ? { "aria-current": "step" } : {})}>
      <span className="step-mark" aria-hidden="true">
        {state === "done" ? (
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="M2.8 8.6l3.4 3.4l7-7.6" />
          </svg>
        ) : (
          number
        )}
      </span>
      <div className="step-body">
        <div className="step-head">
          <h3>
            <span className="sr-only">Step {number}: </span>
            {title}
          </h3>
          <span className="step-state">{stateWords[state]}</span>
        </div>
        {children}
      </div>
    </li>
  );
}

/** Says that the page updates by itself, so that nobody keeps reloading it. */
export function Awaited({ children }: { children: string }) {
  return (
    <p className="awaited">
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" />
      </svg>
      {children}
    </p>
  );
}
