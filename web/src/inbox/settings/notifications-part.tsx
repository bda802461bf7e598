// "Notifications on this device": on or off, why not, and the reader's other browsers.

import { useEffect, useState } from "react";
import type { InboxSettings } from "../../../../server/src/wire/inbox-contract.ts";
import { toLocalTime } from "../../look/time/local-time.ts";
import { pushWords } from "../push/push-words.ts";
import {
  isOn,
  removeBrowser,
  supportHere,
  type Turned,
  turnOff,
  turnOn,
} from "../push/this-browser.ts";
import type { InboxFailure } from "../service/inbox-calls.ts";
import { Part } from "./part.tsx";

type NotificationsPartProps = {
  settings: InboxSettings;
  /** The service's record has changed. */
  onChanged: () => void;
  failed: (failure: InboxFailure) => string;
};

export function NotificationsPart(props: NotificationsPartProps) {
  return (
    <Part title={pushWords.title}>
      <p className="quiet">{pushWords.what}</p>
      <ThisBrowser {...props} />
      <OtherBrowsers {...props} />
    </Part>
  );
}

const obstacles = {
  unsupported: pushWords.unsupported,
  install_first: pushWords.installFirst,
  denied: pushWords.denied,
};

function ThisBrowser({ settings, onChanged, failed }: NotificationsPartProps) {
  const { email, push } = settings;
  const [isTurnedOn, setTurnedOn] = useState<boolean | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const support = supportHere();
  const ours = push.browsers.find(({ isThis }) => isThis);
  const isShownOn = isTurnedOn === true && ours !== undefined;
  useEffect(() => {
    if (support === "ready") isOn(email).then(setTurnedOn, () => setTurnedOn(false));
  }, [support, email]);
  if (support !== "ready") return <p>{obstacles[support]}</p>;
  if (isTurnedOn === null) return null;
  const press = async () => {
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    const problemNow = isShownOn
      ? await switchOff(ours.id, failed)
      : wordsOf(await turnOn(settings), failed);
    setProblem(problemNow);
    setTurnedOn(await isOn(email));
    setBusy(false);
    onChanged();
  };
  return (
    <>
      <div className="settings-line">
        <span role="status">{isShownOn ? pushWords.on : pushWords.off}</span>
        <button type="button" className="button" aria-disabled={isBusy} onClick={press}>
          {labelOf(isShownOn, isBusy)}
        </button>
      </div>
      <Problem words={problem} />
    </>
  );
}

function labelOf(isShownOn: boolean, isBusy: boolean): string {
  if (isShownOn) return isBusy ? pushWords.turningOff : pushWords.turnOff;
  return isBusy ? pushWords.turningOn : pushWords.turnOn;
}

function wordsOf(turned: Turned, failed: NotificationsPartProps["failed"]): string | null {
  switch (turned.kind) {
    case "on":
      return null;
    case "not_allowed":
      return pushWords.notAllowed;
    case "failed":
      return pushWords.failed;
    case "not_saved":
      return failed(turned.failure);
    default:
      return turned satisfies never;
  }
}

async function switchOff(
  id: string,
  failed: NotificationsPartProps["failed"],
): Promise<string | null> {
  await turnOff();
  const failure = await removeBrowser(id);
  return failure === null ? null : failed(failure);
}

/** Browsers on other devices, and other sessions on this one. */
function OtherBrowsers({ settings, onChanged, failed }: NotificationsPartProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const others = settings.push.browsers.filter(({ isThis }) => !isThis);
  if (others.length === 0) return null;
  const remove = async (id: string) => {
    const failure = await removeBrowser(id);
    setProblem(failure === null ? null : failed(failure));
    onChanged();
  };
  return (
    <>
      <ul className="settings-entries" aria-label={pushWords.browsers}>
        {others.map(({ id, createdAt }) => (
          <li key={id}>
            <span>{pushWords.otherBrowser(toLocalTime(createdAt))}</span>
            <button
              type="button"
              className="button"
              aria-label={pushWords.removeNamed(toLocalTime(createdAt))}
              onClick={() => remove(id)}
            >
              {pushWords.remove}
            </button>
          </li>
        ))}
      </ul>
      <Problem words={problem} />
    </>
  );
}

function Problem({ words }: { words: string | null }) {
  if (words === null) return null;
  return (
    <p className="field-error" role="alert">
      {words}
    </p>
  );
}
