// The fields of an endpoint: its name, its address and its events. Adding and changing use the same form.

import { useId, useState } from "react";
import type { EndpointEventKind } from "../../../../sdk/src/contract.ts";
import { DialogForm } from "../forms/dialog-form.tsx";
import { CheckField, TextField } from "../forms/field.tsx";
import { fieldError } from "../service/api.ts";
import { eventKinds, usualKinds } from "./event-kinds.ts";

export type EndpointChoice = { name: string; url: string; eventKinds: EndpointEventKind[] | null };

type EndpointFormProps = {
  first: EndpointChoice;
  sending: { isPending: boolean; error: unknown };
  submitLabel: string;
  onCancel: () => void;
  onSubmit: (choice: EndpointChoice) => void;
};

export function EndpointForm(props: EndpointFormProps) {
  const { first, sending, submitLabel, onCancel, onSubmit } = props;
  const { error } = sending;
  const [name, setName] = useState(first.name);
  const [url, setUrl] = useState(first.url);
  const [isEvery, setEvery] = useState(first.eventKinds === null);
  const [kinds, setKinds] = useState<readonly EndpointEventKind[]>(first.eventKinds ?? usualKinds);
  const problemId = useId();
  const kindsProblem = fieldError(error, "eventKinds");
  const submit = () => {
    // In the order of the list, not of the clicks.
    const chosen = eventKinds.map(({ kind }) => kind).filter((kind) => kinds.includes(kind));
    onSubmit({ name: name.trim(), url: url.trim(), eventKinds: isEvery ? null : chosen });
  };
  const toggle = (kind: EndpointEventKind, isOn: boolean) =>
    setKinds(isOn ? [...kinds, kind] : kinds.filter((each) => each !== kind));
  return (
    <DialogForm
      fields={["name", "url", "eventKinds"]}
      onSubmit={submit}
      {...{ sending, submitLabel, onCancel }}
    >
      <TextField
        label="URL"
        type="url"
        inputMode="url"
        placeholder="https://example.com/hooks/countersign"
        hint="We send each event as a signed POST with a JSON body. Answer with any 2xx within 10 seconds."
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        error={fieldError(error, "url")}
        autoComplete="off"
        spellCheck={false}
        autoFocus
      />
      <TextField
        label="Name (optional)"
        hint="Shown beside the URL. For example: “Ledger, production”."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(error, "name")}
        autoComplete="off"
      />
      <fieldset className="choices" aria-describedby={problemId}>
        <legend>Events</legend>
        <CheckField
          label="Created and every outcome"
          hint="Without those of votes and stages, which you choose by name."
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
    </DialogForm>
  );
}
