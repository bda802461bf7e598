// The current revision of the payload, where an approver has changed it: by whom, and what differs from the agent's.

import type { JsonChange } from "../../../../../server/src/domain/shown/json-diff.ts";
import type { RequestVoting } from "../../../../../server/src/wire/dashboard-voting.ts";
import { Visible } from "../../../look/visible-text.tsx";
import { ChangeList } from "../../../review/parts/change-list.tsx";
import { When } from "../../parts/when.tsx";

type RevisionProps = {
  change: NonNullable<RequestVoting["change"]>;
  changes: readonly JsonChange[];
};

export function Revision({ change: { revision, byEmail, at }, changes }: RevisionProps) {
  return (
    <section className="said" aria-labelledby="revision-title">
      <h2 id="revision-title">Revision {revision}</h2>
      <p>
        Changed by <Visible text={byEmail} /> <When at={at} />.{" "}
        <span className="quiet">Approvals of earlier revisions no longer count.</span>
      </p>
      {changes.length === 0 ? (
        <p className="quiet">It is the same as the agent’s payload again.</p>
      ) : (
        <>
          <p className="quiet">What differs from the agent’s payload:</p>
          <ChangeList changes={changes} />
        </>
      )}
    </section>
  );
}
