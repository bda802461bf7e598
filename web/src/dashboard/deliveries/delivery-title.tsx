// What is being delivered, and where to.

import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { mailTitle } from "./words.ts";

export function DeliveryTitle({ event, destination }: Pick<Delivery, "event" | "destination">) {
  return (
    <>
      {destination.kind === "mailbox" ? (
        <span className="delivery-event">{mailTitle(event)}</span>
      ) : (
        <code className="delivery-event">{event}</code>
      )}{" "}
      <span className="delivery-to">
        <span className="quiet">to </span>
        <Visible text={destination.kind === "mailbox" ? destination.email : destination.url} />
      </span>
    </>
  );
}
