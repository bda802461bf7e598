// One delivery of a request: its state at a glance, and all details once it is opened.

import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import type { ApprovalStatus } from "../../../../sdk/src/contract.ts";
import { destinationWords } from "../../../../server/src/domain/shown/destination.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
import { useMembership } from "../session/membership.ts";
import { Answered } from "../states/answered.tsx";
import { Attempts } from "./attempts.tsx";
import { DeliveryMark } from "./delivery-mark.tsx";
import { DeliveryNote } from "./delivery-note.tsx";
import { DestinationName } from "./destination-name.tsx";
import { canResend, ResendButton } from "./resend-button.tsx";
import { SentRequest } from "./sent-request.tsx";
import { useDelivery } from "./use-deliveries.ts";

type DeliveryItemProps = { delivery: Delivery; status: ApprovalStatus };

export function DeliveryItem({ delivery, status }: DeliveryItemProps) {
  const { workspaceId, canChange } = useMembership();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <li className="delivery">
      <div className="delivery-head">
        <DeliveryMark state={delivery.state} />
        <h3 className="delivery-title">
          <button
            type="button"
            className="fold-mark delivery-toggle"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          >
            <span>
              <DeliveryTitle {...delivery} />
            </span>
          </button>
        </h3>
        {canChange && canResend(delivery, status) && (
          <ResendButton workspaceId={workspaceId} delivery={delivery} />
        )}
      </div>
      <DeliveryNote delivery={delivery} />
      <div id={id} hidden={!isOpen}>
        {isOpen && <Inside workspaceId={workspaceId} deliveryId={delivery.id} />}
      </div>
    </li>
  );
}

/** The event and the destination of a delivery. */
function DeliveryTitle({ event, destination }: Pick<Delivery, "event" | "destination">) {
  const title = destinationWords[destination.kind].title(event);
  return (
    <>
      {title === null ? (
        <code className="delivery-event">{event}</code>
      ) : (
        <span className="delivery-event">{title}</span>
      )}{" "}
      <span className="delivery-to">
        <span className="quiet">to </span>
        <DestinationName destination={destination} />
      </span>
    </>
  );
}

function Inside({ workspaceId, deliveryId }: { workspaceId: string; deliveryId: string }) {
  const delivery = useDelivery(workspaceId, deliveryId);
  return (
    <Answered query={delivery} label="Loading the attempts">
      {({ destination, attemptList, request }) => (
        <div className="delivery-inside">
          <Attempts kind={destination.kind} attempts={attemptList} />
          {request !== null && (
            <details className="fold delivery-sent">
              <summary>Webhook</summary>
              <SentRequest request={request} />
            </details>
          )}
          <Link
            to="/app/w/$workspaceId/deliveries/$deliveryId"
            params={{ workspaceId, deliveryId }}
          >
            Open delivery
          </Link>
        </div>
      )}
    </Answered>
  );
}
