// The details of a decision: the approver's note, and their changes to the payload.

import type { JsonChange } from "../../../../server/src/domain/shown/json-diff.ts";
import { Quote } from "../../look/quote.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { ChangeList } from "./change-list.tsx";

type DecisionDetailsProps = { note: string | null; changes: readonly JsonChange[] };

export function DecisionDetails({ note, changes }: DecisionDetailsProps) {
  return (
    <>
      {note !== null && (
        <Quote label={words.approverWrote}>
          <Visible text={note} isMultiLine />
        </Quote>
      )}
      {changes.length > 0 && (
        <div className="outcome-changes">
          <p>{words.outcome.edited(changes.length)}</p>
          <ChangeList changes={changes} />
        </div>
      )}
    </>
  );
}
