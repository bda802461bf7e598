// The form for mail, Slack and quiet hours. Nothing counts before it is saved.

import { type FormEvent, useId, useState } from "react";
import type { InboxSettings } from "../../../../server/src/wire/inbox-contract.ts";
import { type InboxFailure, isFailure, saveSettings } from "../service/inbox-calls.ts";
import { Part } from "./part.tsx";
import {
  changeOf,
  draftOf,
  isFlaw,
  type SettingsDraft,
  type SettingsFlaw,
} from "./settings-draft.ts";
import { settingsWords } from "./settings-words.ts";

type ChannelsFormProps = {
  settings: InboxSettings;
  onSaved: (settings: InboxSettings) => void;
  failed: (failure: InboxFailure) => string;
};

export function ChannelsForm({ settings, onSaved, failed }: ChannelsFormProps) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [draft, setDraft] = useState(() => draftOf(settings, here));
  const [flaw, setFlaw] = useState<SettingsFlaw | null>(null);
  const [state, setState] = useState<"idle" | "saving" | "saved">("idle");
  const [problem, setProblem] = useState<string | null>(null);
  const change = (changes: Partial<SettingsDraft>) => {
    setDraft({ ...draft, ...changes });
    setFlaw(null);
    setState("idle");
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (state === "saving") return;
    const wanted = changeOf(draft);
    setFlaw(isFlaw(wanted) ? wanted : null);
    if (isFlaw(wanted)) return;
    setState("saving");
    setProblem(null);
    const answer = await saveSettings(wanted);
    setState(isFailure(answer) ? "idle" : "saved");
    if (isFailure(answer)) setProblem(failed(answer));
    else onSaved(answer);
  };
  const { mail, slack } = settingsWords;
  return (
    <form className="settings-form" noValidate onSubmit={submit}>
      <Part title={mail.title}>
        <Option
          type="radio"
          isOn={!draft.isMailLater}
          onChange={() => change({ isMailLater: false })}
          label={mail.now}
        />
        <div className="settings-line">
          <Option
            type="radio"
            isOn={draft.isMailLater}
            onChange={() => change({ isMailLater: true })}
            label={mail.later}
          />
          <input
            className="field settings-number"
            inputMode="numeric"
            aria-label={mail.minutes}
            aria-invalid={flaw?.field === "minutes"}
            disabled={!draft.isMailLater}
            value={draft.minutes}
            onChange={(event) => change({ minutes: event.currentTarget.value })}
          />
          <span aria-hidden="true">{mail.minutes}</span>
        </div>
        <Flaw flaw={flaw} fields={["minutes"]} />
        <p className="quiet small">{mail.hint}</p>
      </Part>
      <Part title={slack.title}>
        <Option
          type="checkbox"
          isOn={draft.usesSlack}
          onChange={(usesSlack) => change({ usesSlack })}
          label={slack.use}
        />
      </Part>
      <QuietHours draft={draft} here={here} flaw={flaw} onChange={change} />
      <div className="settings-save">
        <button type="submit" className="button button-primary" aria-disabled={state === "saving"}>
          {state === "saving" ? settingsWords.saving : settingsWords.save}
        </button>
        <p role="status">{state === "saved" && settingsWords.saved}</p>
        {problem !== null && (
          <p className="field-error" role="alert">
            {problem}
          </p>
        )}
      </div>
    </form>
  );
}

type QuietHoursProps = {
  draft: SettingsDraft;
  /** The browser's time zone. */
  here: string;
  flaw: SettingsFlaw | null;
  onChange: (changes: Partial<SettingsDraft>) => void;
};

function QuietHours({ draft, here, flaw, onChange }: QuietHoursProps) {
  const { quiet } = settingsWords;
  const [fromId, untilId] = [useId(), useId()];
  return (
    <Part title={quiet.title}>
      <Option
        type="checkbox"
        isOn={draft.isQuiet}
        onChange={(isQuiet) => onChange({ isQuiet })}
        label={quiet.use}
      />
      {draft.isQuiet && (
        <>
          <div className="settings-line">
            <label htmlFor={fromId}>{quiet.from}</label>
            <input
              id={fromId}
              className="field settings-time"
              type="time"
              aria-invalid={flaw?.field === "from"}
              value={draft.from}
              onChange={(event) => onChange({ from: event.currentTarget.value })}
            />
            <label htmlFor={untilId}>{quiet.until}</label>
            <input
              id={untilId}
              className="field settings-time"
              type="time"
              aria-invalid={flaw?.field === "until"}
              value={draft.until}
              onChange={(event) => onChange({ until: event.currentTarget.value })}
            />
          </div>
          <Flaw flaw={flaw} fields={["from", "until"]} />
          <p className="small">
            {quiet.zone}
            {draft.timeZone.replaceAll("_", " ")}{" "}
            {draft.timeZone !== here && (
              <button
                type="button"
                className="link-button"
                onClick={() => onChange({ timeZone: here })}
              >
                {quiet.useZone(here.replaceAll("_", " "))}
              </button>
            )}
          </p>
        </>
      )}
      <p className="quiet small">{quiet.hint}</p>
    </Part>
  );
}

type OptionProps = {
  type: "radio" | "checkbox";
  isOn: boolean;
  label: string;
  onChange: (isOn: boolean) => void;
};

function Option({ type, isOn, label, onChange }: OptionProps) {
  return (
    <label className="settings-option">
      <input
        type={type}
        {...(type === "radio" ? { name: "mail" } : {})}
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

function Flaw({ flaw, fields }: { flaw: SettingsFlaw | null; fields: SettingsFlaw["field"][] }) {
  if (flaw === null || !fields.includes(flaw.field)) return null;
  return (
    <p className="field-error" role="alert">
      {flaw.message}
    </p>
  );
}
