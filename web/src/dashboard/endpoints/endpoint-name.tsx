// An endpoint by its name, with its URL beneath, or by its URL alone.

import type { Endpoint } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { Visible } from "../../look/visible-text.tsx";
import { UrlText } from "./url-text.tsx";

export function EndpointName({ endpoint: { name, url } }: { endpoint: Endpoint }) {
  if (name === undefined) return <UrlText url={url} />;
  return (
    <span className="endpoint-name">
      <Visible text={name} />
      <span className="quiet">
        <UrlText url={url} />
      </span>
    </span>
  );
}
