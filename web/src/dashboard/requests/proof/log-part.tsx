// The place of a decision in the log.

import type { LogPlace } from "../../../../../server/src/wire/dashboard-proof.ts";
import { Fact } from "../../../look/fact.tsx";
import { Visible } from "../../../look/visible-text.tsx";
import { When } from "../../parts/when.tsx";
import { readLogPlace } from "./readable-proof.ts";

export function LogPart({ log }: { log: LogPlace | null }) {
  return (
    <div className="proof-part">
      <div className="proof-head">
        <h3>Place in the log</h3>
      </div>
      {log === null || log.proof === null ? (
        <p className="quiet">
          No signed checkpoint has this decision yet. That takes a few seconds.
        </p>
      ) : (
        <Place log={log} />
      )}
    </div>
  );
}

function Place({ log }: { log: LogPlace }) {
  const { index, size, installedAt, witnesses } = readLogPlace(log);
  return (
    <dl className="facts">
      <Fact name="Entry">{index}</Fact>
      <Fact name="Entries in the checkpoint">
        <Visible text={size} />
      </Fact>
      <Fact name="In the installation’s log">
        {installedAt === null ? (
          <span className="quiet">Not there yet</span>
        ) : (
          <>
            since <When at={installedAt} />
          </>
        )}
      </Fact>
      <Fact name="Witnesses">
        {witnesses.length === 0 ? (
          <span className="quiet">None</span>
        ) : (
          <Visible text={witnesses.join(", ")} />
        )}
      </Fact>
      <Fact name="Log">
        <code className="proof-origin">
          <Visible text={log.origin} />
        </code>
      </Fact>
    </dl>
  );
}
