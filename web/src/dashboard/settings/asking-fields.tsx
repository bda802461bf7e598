// Whom agents may ask, and to whom an approver may hand over.

import { Field, TextAreaField } from "../forms/field.tsx";
import { handOverWords, limitWords } from "./setting-words.ts";
import type { SettingsField, SettingsForm } from "./settings-draft.ts";

type AskingFieldsProps = {
  form: SettingsForm;
  onChange: (changes: Partial<SettingsForm>) => void;
  errorAt: (field: SettingsField) => string | null;
};

export function AskingFields({ form, onChange, errorAt }: AskingFieldsProps) {
  return (
    <>
      <Choice
        label="Who can be asked"
        hint="An agent that names anybody else is refused with approver_not_allowed. Without a limit, an agent can name any address, even one that it controls."
        error={errorAt("approverLimit")}
        words={limitWords}
        value={form.approverLimit}
        unchosen="Anybody (not chosen yet)"
        onChange={(approverLimit) => onChange({ approverLimit })}
      />
      {form.approverLimit === "domains" && (
        <TextAreaField
          label="Domains of approvers"
          hint="One a line, such as example.com. Subdomains count only if they are listed, too. A group is refused if one of its members has another domain."
          value={form.approverDomains}
          onChange={(event) => onChange({ approverDomains: event.currentTarget.value })}
          error={errorAt("approverDomains")}
          rows={4}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <Choice
        label="Hand over"
        hint="Approvers can pass a request on to a colleague, who decides in their place. The person the agent acts for, and the owner of its key, never get it."
        error={errorAt("handOver")}
        words={handOverWords}
        value={form.handOver}
        onChange={(handOver) => onChange({ handOver })}
      />
    </>
  );
}

type ChoiceProps<Value extends string> = {
  label: string;
  hint: string;
  error: string | null;
  words: Record<Value, string>;
  value: Value | "";
  /** Stands for the empty value, and can’t be chosen again. */
  unchosen?: string;
  onChange: (value: Value) => void;
};

function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, hint, error, words, value, unchosen, onChange } = props;
  const values = Object.keys(words) as Value[];
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select
          {...control}
          className="field"
          value={value}
          onChange={(event) => {
            const chosen = values.find((each) => each === event.currentTarget.value);
            if (chosen !== undefined) onChange(chosen);
          }}
        >
          {value === "" && <option value="">{unchosen}</option>}
          {values.map((each) => (
            <option key={each} value={each}>
              {words[each]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
