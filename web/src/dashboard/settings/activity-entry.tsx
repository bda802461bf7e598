// One entry of the activity: a sentence, when, and what else was recorded.

import { Link } from "@tanstack/react-router";
import type { Activity } from "../../../../server/src/wire/dashboard-activity.ts";
import { Visible } from "../../look/visible-text.tsx";
import { When } from "../parts/when.tsx";
import { sentenceOf } from "./activity-sentence.ts";

type ActivityEntryProps = { entry: Activity; workspaceId: string };

export function ActivityEntry({ entry, workspaceId }: ActivityEntryProps) {
  const { parts, rest } = sentenceOf(entry);
  // A request is named by its summary, which is the agent's words.
  const isOfAgent = entry.action.startsWith("request.");
  return (
    <li>
      <div className="activity-words">
        <p>
          {parts.map((part, at) =>
            "text" in part ? (
              part.text
            ) : (
              <Name key={at} text={part.name} isQuoted={isOfAgent && at > 0} />
            ),
          )}
        </p>
        {rest.length > 0 && (
          <dl className="activity-rest">
            {rest.map(({ key, label, value }) => (
              <div key={key}>
                <dt>{label}</dt>
                <dd>
                  <RestValue name={key} value={value} workspaceId={workspaceId} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <When at={entry.at} isRelative />
    </li>
  );
}

function Name({ text, isQuoted }: { text: string; isQuoted: boolean }) {
  return isQuoted ? (
    <q className="quoted">
      <Visible text={text} />
    </q>
  ) : (
    <span className="activity-name">
      <Visible text={text} />
    </span>
  );
}

type RestValueProps = { name: string; value: string; workspaceId: string };

function RestValue({ name, value, workspaceId }: RestValueProps) {
  switch (name) {
    case "request":
      return (
        <Link
          to="/app/w/$workspaceId/requests/$requestId"
          params={{ workspaceId, requestId: value }}
        >
          {value}
        </Link>
      );
    case "requests":
      return <Requests ids={value.split(" ")} workspaceId={workspaceId} />;
    case "delivery":
      return (
        <Link
          to="/app/w/$workspaceId/deliveries/$deliveryId"
          params={{ workspaceId, deliveryId: value }}
        >
          {value}
        </Link>
      );
    case "since":
    case "awayFrom":
    case "awayUntil":
      return <When at={value} />;
    default:
      return <Visible text={value} />;
  }
}

/** Folded, because there may be hundreds. */
function Requests({ ids, workspaceId }: { ids: readonly string[]; workspaceId: string }) {
  return (
    <details className="fold">
      <summary>Show all {ids.length}</summary>
      <ul>
        {ids.map((requestId) => (
          <li key={requestId}>
            <Link to="/app/w/$workspaceId/requests/$requestId" params={{ workspaceId, requestId }}>
              {requestId}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}
