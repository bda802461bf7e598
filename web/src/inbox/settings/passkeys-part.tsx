// The reader's passkeys: a session adds one, with a name to recognise it by, and removes one in two steps.

import { type FormEvent, useEffect, useId, useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Passkey } from "../../../../server/src/wire/dashboard-sign-in.ts";
import { browserName } from "../../dashboard/account/browser-name.ts";
import { ApiError, call } from "../../dashboard/service/api.ts";
import { toLocalTime } from "../../look/time/local-time.ts";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { hasPasskeys } from "../../review/signing/passkey.ts";
import { Part } from "./part.tsx";
import { settingsWords } from "./settings-words.ts";

type PasskeysPartProps = { onSignedOut: () => void };

export function PasskeysPart({ onSignedOut }: PasskeysPartProps) {
  const { passkeys: own } = settingsWords;
  const [passkeys, setPasskeys] = useState<readonly Passkey[] | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [told, setTold] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  /** Says what went wrong, or what was done. Whether it was. */
  const attempt = async (work: () => Promise<unknown>, done: string | null) => {
    setTold(null);
    setProblem(null);
    try {
      await work();
      setPasskeys((await call("GET /me/passkeys")).passkeys);
      setTold(done);
      return true;
    } catch (fault) {
      if (fault instanceof ApiError && fault.code === "signed_out") onSignedOut();
      setProblem(fault instanceof ApiError ? fault.message : words.problem.unknown);
      return false;
    }
  };
  const add = async (name: string) => {
    if (await attempt(() => addPasskey(name), own.added)) setAdding(false);
  };
  useEffect(() => {
    void attempt(async () => {}, null);
  }, []);
  return (
    <Part title={own.title}>
      <p className="quiet">{own.what}</p>
      {passkeys === null && problem === null && <p role="status">{own.loading}</p>}
      {passkeys !== null && passkeys.length === 0 && <p>{own.none}</p>}
      {passkeys !== null && passkeys.length > 0 && (
        <ul className="settings-entries">
          {passkeys.map((passkey) => (
            <PasskeyEntry
              key={passkey.id}
              passkey={passkey}
              onRemove={async () => {
                const params = { passkeyId: passkey.id };
                await attempt(
                  () => call("POST /me/passkeys/:passkeyId/remove", { params }),
                  own.removed,
                );
              }}
            />
          ))}
        </ul>
      )}
      {!hasPasskeys() && <p className="quiet">{own.cannot}</p>}
      {hasPasskeys() && !isAdding && (
        <button type="button" className="button settings-start" onClick={() => setAdding(true)}>
          {own.add}
        </button>
      )}
      {isAdding && <AddForm onAdd={add} onCancel={() => setAdding(false)} />}
      <p role="status">{told}</p>
      {problem !== null && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </Part>
  );
}

/** Loaded when it is needed: most visits of the settings add no passkey. */
async function addPasskey(name: string): Promise<void> {
  const passkeys = await import("../../dashboard/service/passkeys.ts");
  await passkeys.addPasskey(name);
}

type AddFormProps = { onAdd: (name: string) => Promise<void>; onCancel: () => void };

function AddForm({ onAdd, onCancel }: AddFormProps) {
  const { passkeys: own } = settingsWords;
  const nameId = useId();
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    await onAdd(name.trim());
    setBusy(false);
  };
  return (
    <form className="settings-fields" noValidate onSubmit={submit}>
      <label htmlFor={nameId}>{own.name}</label>
      <input
        id={nameId}
        className="field"
        maxLength={80}
        aria-describedby={`${nameId}-hint`}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <p className="quiet small" id={`${nameId}-hint`}>
        {own.nameHint}
      </p>
      <div className="settings-line">
        <button type="submit" className="button button-primary" aria-disabled={isBusy}>
          {isBusy ? own.waiting : own.next}
        </button>
        <button type="button" className="button" onClick={onCancel}>
          {settingsWords.cancel}
        </button>
      </div>
    </form>
  );
}

type PasskeyEntryProps = { passkey: Passkey; onRemove: () => Promise<void> };

function PasskeyEntry({ passkey: { name, createdAt }, onRemove }: PasskeyEntryProps) {
  const { passkeys: own } = settingsWords;
  const [isAsked, setAsked] = useState(false);
  return (
    <li>
      <span>
        <strong>
          <Visible text={name} />
        </strong>
        <span className="quiet small settings-detail">{own.addedOn(toLocalTime(createdAt))}</span>
        {isAsked && <span className="settings-detail">{own.surely}</span>}
      </span>
      {isAsked ? (
        <span className="settings-line">
          <button type="button" className="button button-danger" onClick={onRemove}>
            {own.yes}
          </button>
          <button type="button" className="button" onClick={() => setAsked(false)}>
            {settingsWords.cancel}
          </button>
        </span>
      ) : (
        <button
          type="button"
          className="button"
          aria-label={own.removeNamed(toVisibleText(name))}
          onClick={() => setAsked(true)}
        >
          {own.remove}
        </button>
      )}
    </li>
  );
}
