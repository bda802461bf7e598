// The deliveries to an endpoint, by state, event and time. Failed ones come first, because people come for those.

import { Link } from "@tanstack/react-router";
import { outcomeSentence } from "../../../../server/src/domain/shown/outcome-words.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
import type { EndpointDetail } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { Visible } from "../../look/visible-text.tsx";
import { When } from "../parts/when.tsx";
import { usePageSearch } from "../shell/page-search.ts";
import { Answered } from "../states/answered.tsx";
import { LoadMore } from "../states/load-more.tsx";
import { chosenDeliveries, filterOfDeliveries } from "./delivery-filter.ts";
import { DeliveryFilters } from "./delivery-filters.tsx";
import { ResendButton } from "./resend-button.tsx";
import { ResendSinceDialog } from "./resend-since-dialog.tsx";
import { type Asked, useDeliveries } from "./use-deliveries.ts";
import { isDeleted } from "./words.ts";

type DeliveryListProps = { workspaceId: string; endpoint: EndpointDetail; canChange: boolean };

export function DeliveryList({ workspaceId, endpoint, canChange }: DeliveryListProps) {
  const [search, change] = usePageSearch();
  const { state, none } = chosenDeliveries(search, endpoint);
  const filter = filterOfDeliveries(search, endpoint);
  return (
    <section className="section" aria-labelledby="deliveries-title">
      <div className="section-head">
        <h2 id="deliveries-title">Deliveries</h2>
        {canChange && endpoint.unsuccessful.count > 0 && (
          <ResendSinceDialog workspaceId={workspaceId} endpoint={endpoint} />
        )}
      </div>
      <DeliveryFilters endpoint={endpoint} search={search} onChange={change} />
      <Deliveries
        key={JSON.stringify(filter)}
        asked={{ workspaceId, filter }}
        none={none}
        canResend={canChange && endpoint.disabledAt === null && state !== "due"}
      />
    </section>
  );
}

type DeliveriesProps = { asked: Asked; none: string; canResend: boolean };

function Deliveries({ asked, none, canResend }: DeliveriesProps) {
  const deliveries = useDeliveries(asked);
  return (
    <Answered query={deliveries} label="Loading the deliveries" lines={3}>
      {({ pages }) => {
        const items = pages.flatMap((page) => page.items);
        if (items.length === 0 && !deliveries.hasNextPage) return <p className="none">{none}</p>;
        return (
          <>
            {items.length === 0 ? (
              <p className="none">None among the newest deliveries. Older ones may be there.</p>
            ) : (
              <DeliveryTable items={items} workspaceId={asked.workspaceId} canResend={canResend} />
            )}
            <LoadMore list={deliveries} end="No more deliveries." />
          </>
        );
      }}
    </Answered>
  );
}

type DeliveryTableProps = { items: readonly Delivery[]; workspaceId: string; canResend: boolean };

function DeliveryTable({ items, workspaceId, canResend }: DeliveryTableProps) {
  return (
    <div className="table-frame">
      <table className="table">
        <caption className="sr-only">Deliveries to this endpoint</caption>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">Request</th>
            <th scope="col">Last attempt</th>
            <th scope="col" className="number">
              Attempts
            </th>
            <th scope="col">Created</th>
            {canResend && (
              <th scope="col">
                <span className="sr-only">Resend</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {items.map((delivery) => (
            <tr key={delivery.id}>
              <DeliveryCells delivery={delivery} workspaceId={workspaceId} />
              {canResend && (
                <td className="cell-actions">
                  {delivery.state !== "due" && (
                    <ResendButton workspaceId={workspaceId} delivery={delivery} />
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DeliveryCells({ delivery, workspaceId }: { delivery: Delivery; workspaceId: string }) {
  const { id, event, state, attempts, createdAt, lastOutcome: outcome, lastHttpStatus } = delivery;
  const { requestSummary, destination } = delivery;
  return (
    <>
      <td className="cell-main cell-word">
        <Link
          className="row-link mono"
          to="/app/w/$workspaceId/deliveries/$deliveryId"
          params={{ workspaceId, deliveryId: id }}
        >
          {event}
          <span className="sr-only">, delivery {id}</span>
        </Link>
      </td>
      <td className="cell-request" data-label="Request">
        {requestSummary === null ? (
          <span className="quiet">none</span>
        ) : (
          <Visible text={requestSummary} />
        )}
      </td>
      <td data-label="Last attempt">
        {state === "skipped" && outcome === null
          ? `Not sent: the endpoint was ${isDeleted(destination) ? "deleted" : "disabled"}.`
          : outcomeSentence("endpoint", { outcome, httpStatus: lastHttpStatus })}
      </td>
      <td className="number" data-label="Attempts">
        {attempts}
      </td>
      <td data-label="Created">
        <When at={createdAt} isRelative isPlain />
      </td>
    </>
  );
}
