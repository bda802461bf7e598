// Asks for the code that is printed in the mail, before anything of the request is shown.

import { type FormEvent, useRef, useState } from "react";
import type { ReviewPage } from "../../../server/src/wire/review-contract.ts";
import { Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import { isFailure, open } from "./service/calls.ts";
import { accessByLink } from "./service/link-access.ts";

const codeCharacters = 6;

type CodeGateProps = {
  workspaceName: string;
  triesLeft: number;
  onOpen: (page: ReviewPage, code: string) => void;
};

export function CodeGate({ workspaceName, triesLeft, onOpen }: CodeGateProps) {
  const [typed, setTyped] = useState("");
  const [isSending, setSending] = useState(false);
  const [isLocked, setLocked] = useState(triesLeft === 0);
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  if (isLocked) return <Locked />;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isSending) return;
    const code = typed.replaceAll(/[\s\p{Pd}]/gu, "");
    if (code.length !== codeCharacters) {
      setProblem(words.code.incomplete);
      field.current?.focus();
      return;
    }
    setSending(true);
    const answer = await open(accessByLink(code));
    setSending(false);
    if (!isFailure(answer)) return onOpen(answer, code);
    if (answer.code === "link_locked" || answer.triesLeft === 0) return setLocked(true);
    setProblem(answer.triesLeft === null ? answer.message : words.code.wrong(answer.triesLeft));
    field.current?.select();
  };
  return (
    <form className="card gate" onSubmit={submit}>
      <h2>{words.code.title}</h2>
      <p>
        <Visible text={workspaceName} /> {words.code.why}
      </p>
      <label htmlFor="code">{words.code.label}</label>
      <input
        id="code"
        ref={field}
        className="field field-code"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="one-time-code"
        autoCapitalize="characters"
        spellCheck={false}
        maxLength={12}
        aria-describedby="code-problem"
        aria-invalid={problem !== null}
      />
      <p id="code-problem" className="field-error" role="alert">
        {problem}
      </p>
      <button type="submit" className="button button-primary" aria-disabled={isSending}>
        {isSending ? words.confirm.sending : words.code.open}
      </button>
    </form>
  );
}

function Locked() {
  return (
    <div className="card notice" role="alert">
      <h2>{words.code.lockedTitle}</h2>
      <p>{words.code.locked}</p>
    </div>
  );
}
