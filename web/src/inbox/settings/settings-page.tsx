// The reader's settings: how they are asked, when not, who is asked while they are away, and their account.

import { useEffect, useState } from "react";
import type { InboxSettings } from "../../../../server/src/wire/inbox-contract.ts";
import { inboxWords } from "../frame/inbox-words.ts";
import { InnerLink } from "../frame/inner-link.tsx";
import { type InboxFailure, isFailure, readSettings } from "../service/inbox-calls.ts";
import { AccountPart } from "./account-part.tsx";
import { AwayPart } from "./away-part.tsx";
import { ChannelsForm } from "./channels-form.tsx";
import { NotificationsPart } from "./notifications-part.tsx";
import { PasskeysPart } from "./passkeys-part.tsx";
import { settingsWords } from "./settings-words.ts";
import { SlackPart } from "./slack-part.tsx";

type SettingsPageProps = { onBack: () => void; onSignedOut: () => void };

export function SettingsPage({ onBack, onSignedOut }: SettingsPageProps) {
  const [settings, setSettings] = useState<InboxSettings | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const failed = (failure: InboxFailure) => {
    if (failure.code === "signed_out") onSignedOut();
    return failure.message;
  };
  const load = async () => {
    setProblem(null);
    const answer = await readSettings();
    if (isFailure(answer)) setProblem(failed(answer));
    else setSettings(answer);
  };
  useEffect(() => {
    load();
    scrollTo({ top: 0 });
  }, []);
  return (
    <main className="page settings">
      <header className="masthead">
        <InnerLink to={{ kind: "list", list: "waiting" }} className="back-link" onGo={onBack}>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="M9.8 3.5L5.3 8l4.5 4.5" />
          </svg>
          {inboxWords.back}
        </InnerLink>
      </header>
      <h1 className="settings-title">{settingsWords.title}</h1>
      {settings === null && problem === null && (
        <p className="list-loading" role="status">
          {settingsWords.loading}
        </p>
      )}
      {problem !== null && (
        <div className="notice" role="alert">
          <p>{problem}</p>
          <button type="button" className="button" onClick={load}>
            {inboxWords.tryAgain}
          </button>
        </div>
      )}
      {settings !== null && (
        <>
          <ChannelsForm settings={settings} onSaved={setSettings} failed={failed} />
          <NotificationsPart settings={settings} onChanged={load} failed={failed} />
          <SlackPart settings={settings} onChanged={load} failed={failed} />
          <AwayPart email={settings.email.toLowerCase()} failed={failed} />
          <PasskeysPart onSignedOut={onSignedOut} />
          <AccountPart email={settings.email} failed={failed} />
        </>
      )}
    </main>
  );
}
