// The absences of the signed-in person, in all of their workspaces.

import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useCall } from "../service/queries.ts";
import { useMe } from "../session/membership.ts";
import { Answered } from "../states/answered.tsx";
import { AbsenceDays } from "./absence-days.tsx";
import { AbsenceDialog } from "./absence-dialog.tsx";
import { whyNobody } from "./absence-words.ts";
import { EndAbsence } from "./end-absence.tsx";

export function AbsenceSection() {
  const answer = useCall("GET /me/absences");
  return (
    <section className="section" aria-labelledby="absences-title">
      <div className="section-head">
        <h2 id="absences-title">Absences</h2>
        <AbsenceDialog
          trigger={
            <Button>
              <Icon name="plus" />
              Add absence
            </Button>
          }
        />
      </div>
      <p className="section-words">
        While you are away, a colleague is asked instead of you, so that nothing waits until it
        expires.
      </p>
      <Answered query={answer} label="Loading the absences" lines={1}>
        {({ absences }) =>
          absences.length === 0 ? (
            <p className="entry-none">No absences. You are asked yourself.</p>
          ) : (
            <ul className="entries">
              {absences.map((absence) => (
                <AbsenceEntry key={absence.id} absence={absence} />
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  );
}

function AbsenceEntry({ absence }: { absence: Absence }) {
  const { workspaces } = useMe();
  const { workspaceId, delegateEmail, hasBegun } = absence;
  const why = whyNobody(absence);
  const workspace = workspaces.find(({ id }) => id === workspaceId);
  return (
    <li className="entry entry-wide">
      <Icon name="clock" />
      <div className="entry-words">
        <p className="entry-name">
          <AbsenceDays absence={absence} />
          {hasBegun && <span className="badge">Now</span>}
        </p>
        <p className="entry-facts">
          <span>
            {why === null ? (
              <>
                <Visible text={delegateEmail} /> is asked instead
              </>
            ) : (
              <>
                Nobody is asked instead: <Visible text={delegateEmail} />
                {why}
              </>
            )}
          </span>
          {workspaces.length > 1 && workspace !== undefined && (
            <span>
              <Visible text={workspace.name} />
            </span>
          )}
        </p>
      </div>
      <div className="entry-actions">
        <AbsenceDialog
          absence={absence}
          trigger={
            <Button isSmall aria-label="Change your absence">
              Change
            </Button>
          }
        />
        <EndAbsence absence={absence} whose="your absence" isOwn />
      </div>
    </li>
  );
}
