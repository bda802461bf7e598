// Tells a reader who can't approve without a passkey how to get one.

import { signingWords } from "../../look/signing-words.ts";
import type { ReviewAccess } from "../service/access.ts";
import { hasPasskeys } from "./passkey.ts";

export const needsPasskeyId = "needs-passkey";

type NeedsPasskeyProps = { access: ReviewAccess };

export function NeedsPasskey({ access }: NeedsPasskeyProps) {
  const canAdd = hasPasskeys();
  return (
    <section className="standing" aria-label={signingWords.label} id={needsPasskeyId} tabIndex={-1}>
      <p>{canAdd ? signingWords.needed : signingWords.unsupported}</p>
      {canAdd && (
        <p>
          {signingWords.how} {/* This page stays open, with everything typed on it. */}
          <a
            href={`${access.inbox}/settings`}
            className="link-button"
            target="_blank"
            rel="noreferrer"
          >
            {signingWords.settings}
          </a>
        </p>
      )}
    </section>
  );
}
