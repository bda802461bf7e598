// The deliveries to an endpoint, by state. Failed ones come first, because people come for those.

import { Link } from "@tanstack/react-router";
import { outcomeSentence } from "../../../../server/src/domain/shown/outcome-words.ts";
import type { Delivery, DeliveryState } from "../../../../server/src/wire/dashboard-contract.ts";
import type { EndpointDetail } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { ChoiceRow } from "../forms/choice-row.tsx";
import { When } from "../parts/when.tsx";
import { usePageSearch } from "../shell/page-search.ts";
import { Answered } from "../states/answered.tsx";
import { LoadMore } from "../states/load-more.tsx";
import { ResendButton } from "./resend-button.tsx";
import { ResendSinceDialog } from "./resend-since-dialog.tsx";
import { useDeliveries } from "./use-deliveries.ts";
import { usualState, wordsForNone } from "./usual-state.ts";

const states: readonly { value: DeliveryState; word: string }[] = [
  { value: "failed", word: "Failed" },
  { value: "skipped", word: "Skipped" },
  { value: "due", word: "On their way" },
  { value: "delivered", word: "Delivered" },
];

type DeliveryListProps = { workspaceId: string; endpoint: EndpointDetail; canChange: boolean };

export function DeliveryList({ workspaceId, endpoint, canChange }: DeliveryListProps) {
  const [search, change] = usePageSearch();
  const usual = usualState(endpoint);
  const state = states.find(({ value }) => value === search.state)?.value ?? usual;
  return (
    <section className="section" aria-labelledby="deliveries-title">
      <div className="section-head">
        <h2 id="deliveries-title">Deliveries</h2>
        {canChange && endpoint.unsuccessful.count > 0 && (
          <ResendSinceDialog workspaceId={workspaceId} endpoint={endpoint} />
        )}
      </div>
      <ChoiceRow
        label="State of the deliveries"
        choices={states}
        chosen={state}
        onChoose={(value) => change({ state: value === usual ? undefined : value })}
      />
      <Deliveries
        key={state}
        asked={{ workspaceId, endpointId: endpoint.id, state }}
        none={wordsForNone(state, endpoint)}
        canResend={canChange && endpoint.disabledAt === null && state !== "due"}
      />
    </section>
  );
}

type DeliveriesProps = {
  asked: { workspaceId: string; endpointId: string; state: DeliveryState };
  none: string;
  canResend: boolean;
};

function Deliveries({ asked, none, canResend }: DeliveriesProps) {
  const deliveries = useDeliveries(asked);
  return (
    <Answered query={deliveries} label="Loading the deliveries" lines={3}>
      {({ pages }) => {
        const items = pages.flatMap((page) => page.items);
        if (items.length === 0) return <p className="none">{none}</p>;
        return (
          <>
            <DeliveryTable items={items} workspaceId={asked.workspaceId} canResend={canResend} />
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
                  <ResendButton workspaceId={workspaceId} delivery={delivery} />
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
      <td data-label="Last attempt">
        {state === "skipped" && outcome === null
          ? "Not sent: the endpoint was disabled."
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
