// The endpoints of a workspace: address, events and state.

import { Link } from "@tanstack/react-router";
import type { Endpoint } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { When } from "../parts/when.tsx";
import { EndpointName } from "./endpoint-name.tsx";
import { describeKinds } from "./event-kinds.ts";
import { HealthMark } from "./health-mark.tsx";

type EndpointListProps = { endpoints: readonly Endpoint[]; workspaceId: string };

export function EndpointList({ endpoints, workspaceId }: EndpointListProps) {
  return (
    <div className="table-frame">
      <table className="table">
        <caption className="sr-only">Webhook endpoints</caption>
        <thead>
          <tr>
            <th scope="col">Endpoint</th>
            <th scope="col">Events</th>
            <th scope="col">State</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <tr key={endpoint.id}>
              <td className="cell-main">
                <Link
                  className="row-link"
                  to="/app/w/$workspaceId/endpoints/$endpointId"
                  params={{ workspaceId, endpointId: endpoint.id }}
                >
                  <EndpointName endpoint={endpoint} />
                </Link>
              </td>
              <td data-label="Events">{describeKinds(endpoint.eventKinds)}</td>
              <td data-label="State">
                <HealthMark endpoint={endpoint} />
              </td>
              <td data-label="Since">
                <When at={sinceOf(endpoint)} isRelative isPlain />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The start of the state that is shown beside it. */
function sinceOf({ disabledAt, failingSince, createdAt }: Endpoint): string {
  return disabledAt ?? failingSince ?? createdAt;
}
