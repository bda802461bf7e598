// The deliveries of a request. Webhooks come first, because they usually need the look.

import { destinationWords } from "../../../../server/src/domain/shown/destination.ts";
import type { Delivery, RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { DeliveryItem } from "./delivery-item.tsx";
import "./deliveries.css";

/** More are folded: a group may have hundreds of members, each with a mail. */
const shownMax = 12;

export function Deliveries({ request }: { request: RequestDetail }) {
  const { deliveries, status } = request;
  const sorted = [...deliveries].sort((one, other) => rank(one) - rank(other));
  const row = (delivery: Delivery) => (
    <DeliveryItem key={delivery.id} delivery={delivery} status={status} />
  );
  return (
    <section className="said" aria-labelledby="deliveries-title">
      <h2 id="deliveries-title">Deliveries</h2>
      {deliveries.length === 0 ? (
        <p className="quiet">No deliveries. No endpoint listens to this request’s events.</p>
      ) : (
        <ul className="deliveries">{sorted.slice(0, shownMax).map(row)}</ul>
      )}
      {sorted.length > shownMax && (
        <details className="fold fold-rest">
          <summary>{sorted.length - shownMax} more</summary>
          <ul className="deliveries">{sorted.slice(shownMax).map(row)}</ul>
        </details>
      )}
    </section>
  );
}

function rank({ destination, state }: Delivery): number {
  return 2 * destinationWords[destination.kind].rank + (state === "failed" ? 0 : 1);
}
