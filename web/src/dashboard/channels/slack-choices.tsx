// The two choices of a connection to Slack: how people are known, and whether payloads leave.

import { CheckField } from "../forms/field.tsx";

export type SlackChoice = { matchesEmail: boolean; showsPayload: boolean };

type SlackChoicesProps = {
  choice: SlackChoice;
  onChange: (choice: SlackChoice) => void;
  /** Why people can't be matched. */
  error?: string | null;
};

export function SlackChoices({ choice, onChange, error }: SlackChoicesProps) {
  const { matchesEmail, showsPayload } = choice;
  return (
    <>
      <CheckField
        label="Match people by their confirmed e-mail address"
        hint="A Slack profile counts as the approver with the same address, if Slack has confirmed it. Guests and other companies never count. Administrators of Slack can then decide in anybody’s name. Off: everybody links their account in their inbox."
        checked={matchesEmail}
        onChange={(event) => onChange({ showsPayload, matchesEmail: event.currentTarget.checked })}
        error={error}
      />
      <CheckField
        label="Keep payloads out of Slack"
        hint="Messages then say who asks for what until when, and lead to the inbox. Nobody decides in Slack."
        checked={!showsPayload}
        onChange={(event) => onChange({ matchesEmail, showsPayload: !event.currentTarget.checked })}
      />
    </>
  );
}
