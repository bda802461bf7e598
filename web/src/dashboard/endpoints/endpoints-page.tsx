// The page of all webhook endpoints.

import { Button } from "../parts/button.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useCall } from "../service/queries.ts";
import { useMembership } from "../session/membership.ts";
import { Answered } from "../states/answered.tsx";
import { Empty } from "../states/empty.tsx";
import { AddEndpointDialog } from "./add-endpoint-dialog.tsx";
import { EndpointList } from "./endpoint-list.tsx";
import "../parts/manage.css";
import "./endpoints.css";

export function EndpointsPage() {
  const { workspaceId, canChange } = useMembership();
  const list = useCall("GET /workspaces/:workspaceId/endpoints", { params: { workspaceId } });
  return (
    <>
      <PageHead
        title="Webhook endpoints"
        subtitle="Your server gets each change of a request as a signed webhook, usually within milliseconds."
        actions={
          canChange ? (
            <AddEndpointDialog
              workspaceId={workspaceId}
              trigger={<Button variant="primary">Add endpoint</Button>}
            />
          ) : undefined
        }
      />
      <Answered query={list} label="Loading the endpoints">
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <Empty title="No endpoint yet">
              <p>
                {canChange ? "Add one" : "An owner or admin can add one"}, and your server hears of
                each decision at once. Webhooks are optional: an agent can also wait with{" "}
                <code>GET /v1/requests/:id?wait=60</code>.
              </p>
            </Empty>
          ) : (
            <EndpointList endpoints={endpoints} workspaceId={workspaceId} />
          )
        }
      </Answered>
    </>
  );
}
