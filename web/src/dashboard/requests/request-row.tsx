// One request in the list. The whole row is a link, named by the agent's summary.

import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { RequestRow as Row } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { ApproverName } from "./approver-name.tsx";
import { RowSelect } from "./cancelling/row-select.tsx";
import { RowDecision } from "./row-decision.tsx";
import { RowMatch } from "./row-match.tsx";
import { RowProgress } from "./voting/row-progress.tsx";

type RequestRowProps = { workspaceId: string; row: Row; isNew: boolean };

export const RequestRow = memo(
  ({ workspaceId, row, isNew }: RequestRowProps) => (
    <li className={isNew ? "requests-row requests-row-new" : "requests-row"}>
      <RowSelect row={row} />
      <div className="requests-cells">
        <span className="requests-status">
          <Status status={row.status} />
          {row.isEdited && <span className="badge-edited">edited</span>}
        </span>
        <Link
          className="row-link requests-summary"
          to="/app/w/$workspaceId/requests/$requestId"
          params={{ workspaceId, requestId: row.id }}
        >
          <Visible text={row.summary} isMultiLine />
        </Link>
        {row.match !== undefined && <RowMatch match={row.match} />}
        <span className="requests-agent">
          <span className="sr-only">Agent: </span>
          {row.agentName === null ? (
            <span className="quiet">no name</span>
          ) : (
            <Visible text={row.agentName} />
          )}
        </span>
        <span className="requests-approver">
          <span className="sr-only">Approver: </span>
          <ApproverName {...row} />
        </span>
        <span className="requests-decided">
          {row.progress !== undefined && <RowProgress progress={row.progress} />}
          <RowDecision row={row} />
        </span>
        <span className="requests-when">
          <When at={row.createdAt} isRelative isPlain />
        </span>
      </div>
    </li>
  ),
  (one, other) =>
    one.isNew === other.isNew &&
    one.workspaceId === other.workspaceId &&
    JSON.stringify(one.row) === JSON.stringify(other.row),
);
