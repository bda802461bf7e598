// The reader's Slack accounts: linked by a code that this page shows and its reader types in Slack.

import { useState } from "react";
import type { InboxSettings, SlackLinkCode } from "../../../../server/src/wire/inbox-contract.ts";
import { CopyButton } from "../../look/copy-button.tsx";
import { toLocalTime } from "../../look/time/local-time.ts";
import { Visible } from "../../look/visible-text.tsx";
import {
  type InboxFailure,
  isFailure,
  makeSlackCode,
  unlinkSlack,
} from "../service/inbox-calls.ts";
import { Part } from "./part.tsx";
import { settingsWords } from "./settings-words.ts";

type SlackPartProps = {
  settings: InboxSettings;
  onChanged: () => void;
  failed: (failure: InboxFailure) => string;
};

export function SlackPart({ settings, onChanged, failed }: SlackPartProps) {
  const { slack: accounts, canLinkSlack } = settings;
  const { slack } = settingsWords;
  const [code, setCode] = useState<SlackLinkCode | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ask = async <Answer extends object>(
    asked: Promise<Answer | InboxFailure>,
    onTold: (answer: Answer) => void,
  ) => {
    setBusy(true);
    setProblem(null);
    const answer = await asked;
    setBusy(false);
    if (isFailure(answer)) setProblem(failed(answer));
    else onTold(answer);
  };
  return (
    <Part title={slack.linked}>
      {accounts.length === 0 && <p className="quiet">{canLinkSlack ? slack.none : slack.cannot}</p>}
      {accounts.length > 0 && (
        <ul className="settings-entries">
          {accounts.map(({ teamId, teamName, slackUserId, source }) => (
            <li key={teamId}>
              <span>
                <Visible text={teamName} />{" "}
                <code className="code" translate="no">
                  {slackUserId}
                </code>
                {source === "email" && <span className="quiet small"> {slack.byEmail}</span>}
              </span>
              {source === "linked" && (
                <button
                  type="button"
                  className="button"
                  aria-disabled={isBusy}
                  onClick={() => {
                    if (!isBusy) ask(unlinkSlack(teamId), onChanged);
                  }}
                >
                  {slack.remove}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {canLinkSlack && code === null && (
        <button
          type="button"
          className="button settings-start"
          aria-disabled={isBusy}
          onClick={() => {
            if (!isBusy) ask(makeSlackCode(), setCode);
          }}
        >
          {slack.link}
        </button>
      )}
      <div role="status">
        {code !== null && (
          <div className="settings-code">
            <p>{slack.how}</p>
            <p>
              <span className="sr-only">{slack.code}: </span>
              <code translate="no">{code.code}</code>{" "}
              <CopyButton label={slack.copy} text={() => code.code} isWide />
            </p>
            <p className="quiet small">
              {slack.until}
              {toLocalTime(code.expiresAt)}
            </p>
          </div>
        )}
      </div>
      {problem !== null && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </Part>
  );
}
