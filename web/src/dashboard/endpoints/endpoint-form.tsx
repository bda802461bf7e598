// The two things one chooses for an endpoint: where, and which events. Used to add one and to change one.

import { type FormEvent, type ReactNode, useId, useState } from "react";
import type { EventKind } from "../../../../sdk/src/contract.ts";
import { fieldError, otherError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { DialogActions } from "../parts/dialog.tsx";
import { CheckField, TextField } from "../parts/field.tsx";
import { FormProblem } from "../parts/form-problem.tsx";
import { eventKinds } from "./event-kinds.ts";

export type EndpointChoice = { url: string; eventKinds: EventKind[] | null };

type EndpointFormProps = {
  first: EndpointChoice;
  error: unknown;
  isBusy: boolean;
  submitLabel: ReactNode;
  onCancel: () => void;
  onSubmit: (choice: EndpointChoice) => void;
};

export function EndpointForm(props: EndpointFormProps) {
  const { first, error, isBusy, submitLabel, onCancel, onSubmit } = props;
  const [url, setUrl] = useState(first.url);
  const [isEvery, setEvery] = useState(first.eventKinds === null);
  const [kinds, setKinds] = useState<readonly EventKind[]>(
    first.eventKinds ?? eventKinds.map(({ kind }) => kind),
  );
  const problemId = useId();
  const kindsProblem = fieldError(error, "eventKinds");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    // In the order of the list, not of the clicks.
    const chosen = eventKinds.map(({ kind }) => kind).filter((kind) => kinds.includes(kind));
    onSubmit({ url: url.trim(), eventKinds: isEvery ? null : chosen });
  };
  const toggle = (kind: EventKind, isOn: boolean) =>
    setKinds(isOn ? [...kinds, kind] : kinds.filter((each) => each !== kind));
  return (
    <form className="form" onSubmit={submit} noValidate>
      <TextField
        label="URL"
        type="url"
        inputMode="url"
        placeholder="https://example.com/hooks/countersign"
        hint="Each event is sent there as a signed POST with a JSON body. Answer with any 2xx within 10 seconds."
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        error={fieldError(error, "url")}
        autoComplete="off"
        spellCheck={false}
        autoFocus
      />
      <fieldset className="choices" aria-describedby={problemId}>
        <legend>Events</legend>
        <CheckField
          label="Every event, also kinds that are added later"
          checked={isEvery}
          onChange={(event) => setEvery(event.currentTarget.checked)}
        />
        {!isEvery && (
          <div className="choices-inner">
            {eventKinds.map(({ kind, meaning }) => (
              <CheckField
                key={kind}
                label={<code>{kind}</code>}
                hint={meaning}
                checked={kinds.includes(kind)}
                onChange={(event) => toggle(kind, event.currentTarget.checked)}
              />
            ))}
          </div>
        )}
        <p className="field-error" id={problemId} role="alert">
          {kindsProblem}
        </p>
      </fieldset>
      <FormProblem error={otherError(error, ["url", "eventKinds"])} />
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" isBusy={isBusy}>
          {submitLabel}
        </Button>
      </DialogActions>
    </form>
  );
}
