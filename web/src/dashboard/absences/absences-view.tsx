// Everybody who is or will be away from this workspace, for owners and admins.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import { Visible } from "../../look/visible-text.tsx";
import { useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { Empty } from "../states/empty.tsx";
import { AbsenceDays } from "./absence-days.tsx";
import { whyNobody } from "./absence-words.ts";
import { EndAbsence } from "./end-absence.tsx";

export function AbsencesView({ workspaceId }: { workspaceId: string }) {
  const answer = useCall("GET /workspaces/:workspaceId/absences", { params: { workspaceId } });
  return (
    <Answered query={answer} label="Loading the absences" lines={4}>
      {({ absences }) =>
        absences.length === 0 ? (
          <Empty title="Nobody is away">
            Members say under Account when they are away and who is asked instead. It appears here.
          </Empty>
        ) : (
          <AbsenceTable absences={absences} />
        )
      }
    </Answered>
  );
}

function AbsenceTable({ absences }: { absences: readonly Absence[] }) {
  return (
    <div className="table-frame">
      <table className="table">
        <caption className="sr-only">Absences</caption>
        <thead>
          <tr>
            <th scope="col">Away</th>
            <th scope="col">Days</th>
            <th scope="col">Asked instead</th>
            <th scope="col">
              <span className="sr-only">End</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {absences.map((absence) => (
            <tr key={absence.id}>
              <td className="cell-main">
                <span className="in-line">
                  <Visible text={absence.email} />
                  {absence.hasBegun && <span className="badge">Now</span>}
                </span>
              </td>
              <td data-label="Days">
                <AbsenceDays absence={absence} />
              </td>
              <td data-label="Asked instead">
                <AskedInstead absence={absence} />
              </td>
              <td className="cell-actions">
                <EndAbsence
                  absence={absence}
                  whose={`the absence of ${toVisibleText(absence.email)}`}
                  isOwn={false}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AskedInstead({ absence }: { absence: Absence }) {
  const why = whyNobody(absence);
  const delegate = <Visible text={absence.delegateEmail} />;
  if (why === null) return delegate;
  return (
    <span>
      Nobody: {delegate}
      {why}
    </span>
  );
}
