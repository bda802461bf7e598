// The strip above the overview's figures: what needs somebody, a press away from where it can be mended. Nothing is
// there while nothing needs anybody.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Attention } from "../../../../server/src/wire/dashboard-attention.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { When } from "../parts/when.tsx";
import { type AttentionLine, type AttentionTarget, linesOf } from "./attention-lines.ts";
import "./attention-strip.css";

type AttentionStripProps = { workspaceId: string; attention: Attention };

export function AttentionStrip({ workspaceId, attention }: AttentionStripProps) {
  const lines = linesOf(attention);
  if (lines.length === 0) return null;
  return (
    <section className="needs" aria-labelledby="needs-title">
      <h2 id="needs-title">
        <Icon name="alert" />
        Needs attention
      </h2>
      <ul>
        {lines.map((line) => (
          <li key={line.key}>
            <To workspaceId={workspaceId} target={line.target}>
              <Words line={line} />
              <Icon name="forward" />
            </To>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Words({ line: { what, theirs, when, notes } }: { line: AttentionLine }) {
  return (
    <span className="needs-words">
      <strong>{what}</strong>
      {theirs !== undefined && (
        <>
          {" "}
          <span className="needs-theirs" title={toVisibleText(theirs)}>
            <Visible text={theirs} />
          </span>
        </>
      )}{" "}
      <span className="needs-notes">
        {when !== undefined && (
          <>
            {when.word} <When at={when.at} isRelative isPlain />
          </>
        )}
        {notes.map((note, at) => (
          <span key={note}>
            {at > 0 || when !== undefined ? " · " : ""}
            {note}
          </span>
        ))}
      </span>
    </span>
  );
}

type ToProps = { workspaceId: string; target: AttentionTarget; children: ReactNode };

function To({ workspaceId, target, children }: ToProps) {
  const common = { className: "needs-line", children };
  switch (target.page) {
    case "endpoint": {
      const params = { workspaceId, endpointId: target.endpointId };
      return <Link to="/app/w/$workspaceId/endpoints/$endpointId" params={params} {...common} />;
    }
    case "endpoints":
      return <Link to="/app/w/$workspaceId/endpoints" params={{ workspaceId }} {...common} />;
    case "request": {
      const params = { workspaceId, requestId: target.requestId };
      return <Link to="/app/w/$workspaceId/requests/$requestId" params={params} {...common} />;
    }
    case "pending": {
      const search = { status: "PENDING", sort: "expiry" } as const;
      const to = "/app/w/$workspaceId/requests";
      return <Link to={to} params={{ workspaceId }} search={search} {...common} />;
    }
    case "delivery": {
      const params = { workspaceId, deliveryId: target.deliveryId };
      return <Link to="/app/w/$workspaceId/deliveries/$deliveryId" params={params} {...common} />;
    }
    case "channels": {
      const to = "/app/w/$workspaceId/settings";
      return <Link to={to} params={{ workspaceId }} search={{ tab: "channels" }} {...common} />;
    }
    case "usage": {
      const to = "/app/w/$workspaceId/settings";
      return <Link to={to} params={{ workspaceId }} search={{ tab: "usage" }} {...common} />;
    }
    default:
      return target satisfies never;
  }
}
