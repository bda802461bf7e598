// The history of a request as a timeline, oldest first.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import type { HistoryEntry } from "../../../../server/src/wire/dashboard-history.ts";
import { Quote } from "../../look/quote.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { callbackName, NamedAddress } from "../deliveries/destination-name.tsx";
import { When } from "../parts/when.tsx";
import { linesOf, markOf } from "./history-lines.ts";
import { messageSentence } from "./message-line.tsx";
import { votingSentence } from "./voting/voting-line.tsx";
import { awaitedWords } from "./voting/voting-words.ts";

type HistoryProps = { workspaceId: string; request: RequestDetail };

export function History({ workspaceId, request }: HistoryProps) {
  const { history, status, expiresAt, voting } = request;
  const place = { workspaceId, stages: voting?.stages.length ?? 1 };
  return (
    <section className="said request-history" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <ol className="history">
        {linesOf(history).map((line, at) =>
          line.kind === "entry" ? (
            <Line key={at} entry={line.entry} place={place} />
          ) : (
            <Several key={at} entries={line.entries} place={place} />
          ),
        )}
        {status === "PENDING" && (
          <li className="history-next">
            <p>
              Waiting for{" "}
              {voting === undefined ? "a decision" : <Visible text={awaitedWords(voting)} />}
            </p>
            <span className="history-when">
              until <When at={expiresAt} />
            </span>
          </li>
        )}
      </ol>
    </section>
  );
}

type Place = { workspaceId: string; stages: number };
type LineProps = { entry: HistoryEntry; place: Place };

function Line({ entry, place }: LineProps) {
  return (
    <li className={`history-${markOf(entry)}`}>
      <p>{sentenceOf(entry, place)}</p>
      {entry.kind === "voted" && entry.note !== null && (
        <Quote label={words.approverWrote}>
          <Visible text={entry.note} isMultiLine />
        </Quote>
      )}
      <span className="history-when">
        <When at={entry.at} />
      </span>
    </li>
  );
}

type SeveralProps = { entries: [HistoryEntry, ...HistoryEntry[]]; place: Place };

function Several({ entries, place }: SeveralProps) {
  const [first] = entries;
  return (
    <li className={`history-${markOf(first)}`}>
      <details className="fold">
        <summary>{severalWords(first, entries.length)}</summary>
        <ol className="history history-inner">
          {entries.map((entry, at) => (
            <Line key={at} entry={entry} place={place} />
          ))}
        </ol>
      </details>
      <span className="history-when">
        <When at={first.at} />
      </span>
    </li>
  );
}

function severalWords({ kind }: HistoryEntry, count: number): string {
  switch (kind) {
    case "mailed":
      return `Mailed to ${count} people`;
    case "reminded":
      return `${count} people reminded`;
    case "mail_failed":
      return `${count} mails failed`;
    case "change_told":
      return `${count} people told of the change`;
    case "outcome_told":
      return `${count} people told of the outcome`;
    case "opened":
      return `${count} links opened`;
    case "delivered":
      return `${count} webhooks delivered`;
    case "delivery_failed":
      return `${count} webhooks failed`;
    case "message_sent":
      return `${count} messages sent`;
    case "message_failed":
      return `${count} messages failed`;
    default:
      return `${count} times: ${kind}`;
  }
}

function sentenceOf(entry: HistoryEntry, { workspaceId, stages }: Place): ReactNode {
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
    case "change_told":
    case "outcome_told":
      return (
        <>
          {toDelivery(entry.deliveryId, "Told")} <Visible text={entry.email} />
          {entry.kind === "change_told" ? " of the change" : " of the outcome"}
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
    case "message_sent":
    case "message_failed":
      return messageSentence(entry);
    default:
      return votingSentence(entry, stages);
  }
}
