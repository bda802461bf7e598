// One absence: its days, the workspace, who is asked instead, and the way to end it.

import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import { AbsenceDays } from "../../dashboard/absences/absence-days.tsx";
import { whyNobody } from "../../dashboard/absences/absence-words.ts";
import { Visible } from "../../look/visible-text.tsx";
import { settingsWords } from "./settings-words.ts";

type AbsenceEntryProps = {
  absence: Absence;
  /** Null where it isn't known any more. */
  workspaceName: string | null;
  onEnd: () => void;
};

export function AbsenceEntry({ absence, workspaceName, onEnd }: AbsenceEntryProps) {
  const { away } = settingsWords;
  const why = whyNobody(absence);
  return (
    <li>
      <span>
        <strong>
          <AbsenceDays absence={absence} />
        </strong>
        {absence.hasBegun && <span className="settings-now">{away.now}</span>}
        <span className="quiet small settings-detail">
          {workspaceName !== null && (
            <>
              <Visible text={workspaceName} />
              {": "}
            </>
          )}
          <Visible text={absence.delegateEmail} />
          {why === null ? away.isAsked : `${why}${away.nobodyIsAsked}`}
        </span>
      </span>
      <button type="button" className="button" onClick={onEnd}>
        {away.end}
      </button>
    </li>
  );
}
