// The filters above an endpoint's deliveries: state, event and time.

import { useId } from "react";
import { ChoiceRow } from "../forms/choice-row.tsx";
import { DayRange } from "../forms/day-range.tsx";
import {
  chosenDeliveries,
  type DeliverySearch,
  deliveryChoices,
  deliveryEvents,
} from "./delivery-filter.ts";
import { type EndpointFacts, usualState } from "./usual-state.ts";
import "./delivery-filters.css";

type DeliveryFiltersProps = {
  endpoint: EndpointFacts;
  search: DeliverySearch;
  onChange: (changes: { [Key in keyof DeliverySearch]?: string | undefined }) => void;
};

export function DeliveryFilters({ endpoint, search, onChange }: DeliveryFiltersProps) {
  const { state } = chosenDeliveries(search, endpoint);
  const id = useId();
  return (
    <div className="delivery-filters">
      <ChoiceRow
        label="State of the deliveries"
        choices={deliveryChoices}
        chosen={state}
        onChoose={(value) =>
          onChange({ state: value === usualState(endpoint) ? undefined : value })
        }
      />
      <div>
        <label htmlFor={id}>Event</label>
        <select
          id={id}
          className="field"
          value={search.event ?? ""}
          onChange={({ currentTarget: { value } }) =>
            onChange({ event: value === "" ? undefined : value })
          }
        >
          <option value="">Every event</option>
          {deliveryEvents.map((event) => (
            <option key={event}>{event}</option>
          ))}
        </select>
      </div>
      <DayRange labels={["From", "To"]} range={search} onRange={onChange} />
    </div>
  );
}
