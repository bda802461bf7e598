// Where a delivery goes: an endpoint by its name, with its URL behind it, a callback by its host, or an address.

import { addressOf } from "../../../../server/src/domain/shown/destination.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";

type Destined = Pick<Delivery, "destination">;

export function DestinationName({ destination }: Destined) {
  return <NamedAddress name={nameOf({ destination })} address={addressOf(destination)} />;
}

/** Undefined where nobody gave it one. */
export function nameOf({ destination }: Destined): string | undefined {
  if (destination.kind === "callback") return callbackName;
  return destination.kind === "endpoint" ? destination.name : undefined;
}

/** A request's own address, of which only the host is shown here. */
export const callbackName = "Callback";

export function NamedAddress({ name, address }: { name: string | undefined; address: string }) {
  if (name === undefined) return <Visible text={address} />;
  return (
    <>
      <Visible text={name} />{" "}
      <span className="quiet">
        <Visible text={address} />
      </span>
    </>
  );
}
