// The reader's absences, in all of their workspaces, and the form for another one.

import { type FormEvent, useEffect, useId, useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import {
  absenceOf,
  type DraftFlaw,
  isFlaw,
  newDraft,
} from "../../dashboard/absences/absence-draft.ts";
import { Visible } from "../../look/visible-text.tsx";
import { basePath } from "../service/base-path.ts";
import { ask, type InboxFailure, isFailure } from "../service/inbox-calls.ts";
import { AbsenceEntry } from "./absence-entry.tsx";
import { Part } from "./part.tsx";
import { settingsWords } from "./settings-words.ts";

type AwayPartProps = { email: string; failed: (failure: InboxFailure) => string };
type Workspaces = Me["workspaces"];

const api = `${basePath}/app/api`;

export function AwayPart({ email, failed }: AwayPartProps) {
  const { away } = settingsWords;
  const [absences, setAbsences] = useState<readonly Absence[] | null>(null);
  const [workspaces, setWorkspaces] = useState<Workspaces | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const load = async () => {
    const [own, me] = await Promise.all([
      ask<{ absences: Absence[] }>(`${api}/me/absences`),
      ask<Me>(`${api}/me`),
    ]);
    if (isFailure(own)) return setProblem(failed(own));
    if (isFailure(me)) return setProblem(failed(me));
    setProblem(null);
    setAbsences(own.absences);
    setWorkspaces(me.workspaces);
  };
  useEffect(() => {
    load();
  }, []);
  const end = async ({ id }: Absence) => {
    const answer = await ask(`${api}/me/absences/${encodeURIComponent(id)}/end`, {});
    if (isFailure(answer)) setProblem(failed(answer));
    else load();
  };
  const nameOf = (id: string) => workspaces?.find((each) => each.id === id)?.name ?? null;
  return (
    <Part title={away.title}>
      <p className="quiet">{away.what}</p>
      {absences !== null && absences.length === 0 && <p>{away.none}</p>}
      {absences !== null && absences.length > 0 && (
        <ul className="settings-entries">
          {absences.map((absence) => (
            <AbsenceEntry
              key={absence.id}
              absence={absence}
              workspaceName={nameOf(absence.workspaceId)}
              onEnd={() => end(absence)}
            />
          ))}
        </ul>
      )}
      {workspaces !== null && workspaces.length === 0 && <p className="quiet">{away.notMember}</p>}
      {workspaces !== null && workspaces.length > 0 && !isAdding && (
        <button type="button" className="button settings-start" onClick={() => setAdding(true)}>
          {away.add}
        </button>
      )}
      {workspaces !== null && isAdding && (
        <AbsenceForm
          workspaces={workspaces}
          email={email}
          failed={failed}
          onDone={() => {
            setAdding(false);
            load();
          }}
        />
      )}
      {problem !== null && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </Part>
  );
}

type AbsenceFormProps = {
  workspaces: Workspaces;
  /** The reader's own, which can't stand in for itself. */
  email: string;
  failed: (failure: InboxFailure) => string;
  onDone: () => void;
};

function AbsenceForm({ workspaces, email, failed, onDone }: AbsenceFormProps) {
  const { away } = settingsWords;
  const ids = { workspace: useId(), first: useId(), last: useId(), delegate: useId() };
  const [workspaceId, setWorkspaceId] = useState(workspaces[0]?.id ?? "");
  const [draft, setDraft] = useState(() => newDraft(new Date()));
  const [colleagues, setColleagues] = useState<readonly string[] | null>(null);
  const [flaw, setFlaw] = useState<DraftFlaw | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isSaving, setSaving] = useState(false);
  const place = `${api}/workspaces/${encodeURIComponent(workspaceId)}`;
  useEffect(() => {
    let isOther = false;
    setColleagues(null);
    ask<{ colleagues: string[] }>(`${place}/colleagues`).then((answer) => {
      if (isOther) return;
      if (isFailure(answer)) setProblem(failed(answer));
      else setColleagues(answer.colleagues.filter((each) => each.toLowerCase() !== email));
    });
    return () => {
      isOther = true;
    };
  }, [workspaceId]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isSaving) return;
    const wanted = absenceOf(draft);
    setFlaw(isFlaw(wanted) ? wanted : null);
    if (isFlaw(wanted)) return;
    setSaving(true);
    setProblem(null);
    const path = `${api}/me/workspaces/${encodeURIComponent(workspaceId)}/absences`;
    const answer = await ask(path, wanted);
    setSaving(false);
    if (isFailure(answer)) setProblem(failed(answer));
    else onDone();
  };
  return (
    <form className="settings-fields" noValidate onSubmit={submit}>
      {workspaces.length > 1 && (
        <>
          <label htmlFor={ids.workspace}>{away.workspace}</label>
          <select
            id={ids.workspace}
            className="field"
            value={workspaceId}
            onChange={(event) => {
              setWorkspaceId(event.currentTarget.value);
              // Colleagues differ.
              setDraft({ ...draft, delegateEmail: "" });
            }}
          >
            {workspaces.map(({ id, name }) => (
              <option key={id} value={id}>
                {toVisibleText(name)}
              </option>
            ))}
          </select>
        </>
      )}
      <label htmlFor={ids.first}>{away.firstDay}</label>
      <input
        id={ids.first}
        className="field"
        type="date"
        aria-invalid={flaw?.field === "startsAt"}
        value={draft.firstDay}
        onChange={(event) => setDraft({ ...draft, firstDay: event.currentTarget.value })}
      />
      <label htmlFor={ids.last}>{away.lastDay}</label>
      <input
        id={ids.last}
        className="field"
        type="date"
        min={draft.firstDay}
        aria-invalid={flaw?.field === "endsAt"}
        value={draft.lastDay}
        onChange={(event) => setDraft({ ...draft, lastDay: event.currentTarget.value })}
      />
      <label htmlFor={ids.delegate}>{away.delegate}</label>
      <select
        id={ids.delegate}
        className="field"
        aria-invalid={flaw?.field === "delegateEmail"}
        value={draft.delegateEmail}
        onChange={(event) => setDraft({ ...draft, delegateEmail: event.currentTarget.value })}
      >
        <option value="">{colleagues?.length === 0 ? away.alone : away.choose}</option>
        {(colleagues ?? []).map((each) => (
          <option key={each} value={each}>
            {toVisibleText(each)}
          </option>
        ))}
      </select>
      {(flaw !== null || problem !== null) && (
        <p className="field-error" role="alert">
          {flaw?.message ?? (problem !== null && <Visible text={problem} />)}
        </p>
      )}
      <div className="settings-line">
        <button type="submit" className="button button-primary" aria-disabled={isSaving}>
          {isSaving ? settingsWords.saving : settingsWords.save}
        </button>
        <button type="button" className="button" onClick={onDone}>
          {settingsWords.cancel}
        </button>
      </div>
    </form>
  );
}
