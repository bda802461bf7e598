// One delivery: its state, every attempt with its response, and the exact request.

import { Link, useParams } from "@tanstack/react-router";
import { destinationWords } from "../../../../server/src/domain/shown/destination.ts";
import type { DeliveryDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { Fact } from "../../look/fact.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { IdFact } from "../parts/id-fact.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { When } from "../parts/when.tsx";
import { isNotFound } from "../service/api.ts";
import { useMembership } from "../session/membership.ts";
import { NotFound } from "../shell/not-found.tsx";
import { Loading } from "../states/loading.tsx";
import { Problem } from "../states/problem.tsx";
import { Attempts } from "./attempts.tsx";
import { DeliveryMark } from "./delivery-mark.tsx";
import { DeliveryNote } from "./delivery-note.tsx";
import { DestinationName } from "./destination-name.tsx";
import { canResend, ResendButton } from "./resend-button.tsx";
import { SentRequest } from "./sent-request.tsx";
import { useDelivery } from "./use-deliveries.ts";
import "../parts/story.css";
import "./deliveries.css";

export function DeliveryPage() {
  const { workspaceId, canChange } = useMembership();
  const { deliveryId = "" } = useParams({ strict: false });
  const { data: delivery, error, refetch } = useDelivery(workspaceId, deliveryId);
  if (delivery === undefined && isNotFound(error)) return <NotFound />;
  return (
    <>
      <PageHead
        title={delivery === undefined ? "Delivery" : titleOf(delivery)}
        documentTitle={delivery === undefined ? "Delivery" : `Delivery of ${delivery.event}`}
        back={<Back workspaceId={workspaceId} requestId={delivery?.requestId ?? null} />}
        subtitle={
          <span className="story-state">
            {delivery === undefined ? "…" : <DeliveryMark state={delivery.state} />}
          </span>
        }
        actions={
          delivery !== undefined && canChange && canResend(delivery, null) ? (
            <ResendButton workspaceId={workspaceId} delivery={delivery} />
          ) : undefined
        }
      />
      <Problem error={error} onRetry={() => void refetch()} />
      {delivery === undefined ? (
        error === null && <Loading label="Loading the delivery" lines={8} />
      ) : (
        <DeliveryStory workspaceId={workspaceId} delivery={delivery} />
      )}
    </>
  );
}

function titleOf({ destination, event }: DeliveryDetail) {
  return destinationWords[destination.kind].title(event) ?? <code>{event}</code>;
}

function Back({ workspaceId, requestId }: { workspaceId: string; requestId: string | null }) {
  return requestId === null ? (
    <Link to="/app/w/$workspaceId/endpoints" params={{ workspaceId }}>
      <Icon name="back" />
      Webhooks
    </Link>
  ) : (
    <Link to="/app/w/$workspaceId/requests/$requestId" params={{ workspaceId, requestId }}>
      <Icon name="back" />
      Request
    </Link>
  );
}

type DeliveryStoryProps = { workspaceId: string; delivery: DeliveryDetail };

function DeliveryStory({ workspaceId, delivery }: DeliveryStoryProps) {
  const { id, destination, createdAt, request, requestSummary, attemptList } = delivery;
  return (
    <div className="story">
      <DeliveryNote delivery={delivery} />
      <dl className="facts">
        {requestSummary !== null && (
          <Fact name="Request">
            <Visible text={requestSummary} isMultiLine />
          </Fact>
        )}
        <Fact name="To">
          {destination.kind === "endpoint" ? (
            <Link
              to="/app/w/$workspaceId/endpoints/$endpointId"
              params={{ workspaceId, endpointId: destination.id }}
            >
              <DestinationName destination={destination} />
            </Link>
          ) : (
            <DestinationName destination={destination} />
          )}
        </Fact>
        <Fact name="Since">
          <When at={createdAt} />
        </Fact>
        <IdFact id={id} />
      </dl>
      <section className="said" aria-labelledby="attempts-title">
        <h2 id="attempts-title">Attempts</h2>
        <Attempts kind={destination.kind} attempts={attemptList} />
      </section>
      {request !== null && (
        <section className="said" aria-labelledby="sent-title">
          <h2 id="sent-title">Webhook</h2>
          <SentRequest request={request} />
        </section>
      )}
    </div>
  );
}
