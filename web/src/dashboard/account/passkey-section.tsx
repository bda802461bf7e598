// The passkeys of the signed-in person: add one, remove one.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Passkey } from "../../../../server/src/wire/dashboard-sign-in.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toast.tsx";
import { When } from "../parts/when.tsx";
import { call } from "../service/api.ts";
import { hasPasskeys } from "../service/passkeys.ts";
import { refresh, useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { AddPasskey } from "./add-passkey.tsx";

export function PasskeySection() {
  const answer = useCall("GET /me/passkeys");
  return (
    <section className="section" aria-labelledby="passkeys-title">
      <div className="section-head">
        <h2 id="passkeys-title">Passkeys</h2>
        {hasPasskeys() && <AddPasskey />}
      </div>
      <p className="section-words">
        Sign in with your fingerprint, face or device code. A passkey works on this address only, so
        a look-alike page can’t steal it.
      </p>
      <Answered query={answer} label="Loading the passkeys" lines={1}>
        {({ passkeys }) => <PasskeyList passkeys={passkeys} />}
      </Answered>
    </section>
  );
}

function PasskeyList({ passkeys }: { passkeys: readonly Passkey[] }) {
  if (passkeys.length === 0) {
    return (
      <p className="entry-none">
        {hasPasskeys()
          ? "No passkeys yet. You sign in with a code by mail."
          : "No passkeys. This browser offers them on encrypted pages (https) only."}
      </p>
    );
  }
  return (
    <ul className="entries">
      {passkeys.map((passkey) => (
        <PasskeyEntry key={passkey.id} passkey={passkey} />
      ))}
    </ul>
  );
}

function PasskeyEntry({ passkey: { id, name, createdAt, lastUsedAt } }: { passkey: Passkey }) {
  const toast = useToast();
  const remove = async () => {
    await call("POST /me/passkeys/:passkeyId/remove", { params: { passkeyId: id } });
    await refresh("GET /me/passkeys", "GET /me");
    toast("The passkey was removed.");
  };
  return (
    <li className="entry">
      <Icon name="passkey" />
      <div className="entry-words">
        <p className="entry-name">
          <Visible text={name} />
        </p>
        <p className="entry-facts">
          <span>
            Added <When at={createdAt} isRelative />
          </span>
          <span>
            {lastUsedAt === null ? (
              "Never used"
            ) : (
              <>
                Last used <When at={lastUsedAt} isRelative />
              </>
            )}
          </span>
        </p>
      </div>
      <ConfirmDialog
        title={
          <>
            Remove “<Visible text={name} />
            ”?
          </>
        }
        description="It will no longer sign you in here. Delete it from your device or password manager as well. A code by mail still works."
        confirmLabel="Remove passkey"
        isDanger
        trigger={
          <Button isSmall variant="danger" aria-label={`Remove ${toVisibleText(name)}`}>
            Remove
          </Button>
        }
        onConfirm={remove}
      />
    </li>
  );
}
