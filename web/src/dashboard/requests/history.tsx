// The history of a request as a timeline, oldest first.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type {
  HistoryEntry,
  RequestDetail,
} from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { callbackName, NamedAddress } from "../deliveries/destination-name.tsx";
import { When } from "../parts/when.tsx";
import { linesOf } from "./history-lines.ts";

type HistoryProps = { workspaceId: string; request: RequestDetail };

export function History({ workspaceId, request }: HistoryProps) {
  const { history, status, expiresAt } = request;
  return (
    <section className="said request-history" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <ol className="history">
        {linesOf(history).map((line, at) =>
          line.kind === "entry" ? (
            <Line key={at} entry={line.entry} workspaceId={workspaceId} />
          ) : (
            <Several key={at} entries={line.entries} workspaceId={workspaceId} />
          ),
        )}
        {status === "PENDING" && (
          <li className="history-next">
            <p>Waiting for a decision</p>
            <span className="history-when">
              until <When at={expiresAt} />
            </span>
          </li>
        )}
      </ol>
    </section>
  );
}

type LineProps = { entry: HistoryEntry; workspaceId: string };

function Line({ entry, workspaceId }: LineProps) {
  return (
    <li className={`history-${markOf(entry)}`}>
      <p>{sentenceOf(entry, workspaceId)}</p>
      <span className="history-when">
        <When at={entry.at} />
      </span>
    </li>
  );
}

type SeveralProps = { entries: [HistoryEntry, ...HistoryEntry[]]; workspaceId: string };

function Several({ entries, workspaceId }: SeveralProps) {
  const [first] = entries;
  return (
    <li className={`history-${markOf(first)}`}>
      <details className="fold">
        <summary>{severalWords(first, entries.length)}</summary>
        <ol className="history history-inner">
          {entries.map((entry, at) => (
            <Line key={at} entry={entry} workspaceId={workspaceId} />
          ))}
        </ol>
      </details>
      <span className="history-when">
        <When at={first.at} />
      </span>
    </li>
  );
}

type Mark = "plain" | "approved" | "rejected" | "failed";

function markOf({ kind }: HistoryEntry): Mark {
  switch (kind) {
    case "approved":
      return "approved";
    case "rejected":
      return "rejected";
    case "mail_failed":
    case "delivery_failed":
      return "failed";
    default:
      return "plain";
  }
}

function severalWords({ kind }: HistoryEntry, count: number): string {
  switch (kind) {
    case "mailed":
      return `Mailed to ${count} people`;
    case "reminded":
      return `${count} people reminded`;
    case "mail_failed":
      return `${count} mails failed`;
    case "opened":
      return `${count} links opened`;
    case "delivered":
      return `${count} webhooks delivered`;
    case "delivery_failed":
      return `${count} webhooks failed`;
    default:
      return `${count} times: ${kind}`;
  }
}

function sentenceOf(entry: HistoryEntry, workspaceId: string): ReactNode {
  const toDelivery = (deliveryId: string, text: string) => (
    <Link to="/app/w/$workspaceId/deliveries/$deliveryId" params={{ workspaceId, deliveryId }}>
      {text}
    </Link>
  );
  switch (entry.kind) {
    case "created":
      return "The agent asked";
    case "mailed":
      return (
        <>
          {toDelivery(entry.deliveryId, "Mailed")} to <Visible text={entry.email} />
        </>
      );
    case "reminded":
      return (
        <>
          {toDelivery(entry.deliveryId, "Reminded")} <Visible text={entry.email} />
        </>
      );
    case "mail_failed":
      return (
        <>
          {toDelivery(entry.deliveryId, "Mail failed")} to <Visible text={entry.email} />
        </>
      );
    case "opened":
      return (
        <>
          Link of <Visible text={entry.email} /> opened
        </>
      );
    case "approved":
      return (
        <>
          Approved by <Visible text={entry.email} />
        </>
      );
    case "rejected":
      return (
        <>
          Rejected by <Visible text={entry.email} />
        </>
      );
    case "expired":
      return "Expired: nobody decided in time";
    case "cancelled":
      return "Cancelled";
    case "redeemed":
      return (
        <>
          Redeemed to run with the API key <Visible text={entry.apiKey.name} />{" "}
          <code className="quiet">{entry.apiKey.id}</code>
        </>
      );
    case "delivered":
    case "delivery_failed":
      return (
        <>
          <code>{entry.event}</code>{" "}
          {toDelivery(entry.deliveryId, entry.kind === "delivered" ? "delivered" : "failed")} to{" "}
          <NamedAddress
            name={entry.isCallback === true ? callbackName : entry.name}
            address={entry.url}
          />
        </>
      );
    default:
      return entry satisfies never;
  }
}
