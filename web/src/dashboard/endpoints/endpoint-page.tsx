// One webhook endpoint: its state, events, a test, its last days, and its deliveries.

import { Link, useParams } from "@tanstack/react-router";
import type { EndpointDetail } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { DeliveryList } from "../deliveries/delivery-list.tsx";
import { Icon } from "../parts/icon.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { When } from "../parts/when.tsx";
import { isNotFound } from "../service/api.ts";
import { useCall } from "../service/queries.ts";
import { useMembership } from "../session/membership.ts";
import { NotFound } from "../shell/not-found.tsx";
import { Answered } from "../states/answered.tsx";
import { ChangeEndpointDialog } from "./change-endpoint-dialog.tsx";
import { DaysView } from "./days-view.tsx";
import { DeleteEndpoint } from "./delete-endpoint.tsx";
import { EndpointName } from "./endpoint-name.tsx";
import { EndpointState } from "./endpoint-state.tsx";
import { describeKinds } from "./event-kinds.ts";
import { HealthMark } from "./health-mark.tsx";
import { RotateSecretDialog } from "./rotate-secret-dialog.tsx";
import { TestEvent } from "./test-event.tsx";
import { TurnOffDialog } from "./turn-off-dialog.tsx";
import "../parts/manage.css";
import "./endpoints.css";

export function EndpointPage() {
  const { workspaceId, canChange } = useMembership();
  const { endpointId = "" } = useParams({ strict: false });
  const endpoint = useCall("GET /workspaces/:workspaceId/endpoints/:endpointId", {
    params: { workspaceId, endpointId },
  });
  if (endpoint.data === undefined && isNotFound(endpoint.error)) return <NotFound />;
  return (
    <>
      {endpoint.data === undefined && (
        <PageHead title="Webhook endpoint" back={<Back workspaceId={workspaceId} />} />
      )}
      <Answered query={endpoint} label="Loading the endpoint" lines={8}>
        {(found) => <Story workspaceId={workspaceId} endpoint={found} canChange={canChange} />}
      </Answered>
    </>
  );
}

function Back({ workspaceId }: { workspaceId: string }) {
  return (
    <Link to="/app/w/$workspaceId/endpoints" params={{ workspaceId }}>
      <Icon name="back" />
      Webhook endpoints
    </Link>
  );
}

type StoryProps = { workspaceId: string; endpoint: EndpointDetail; canChange: boolean };

function Story({ workspaceId, endpoint, canChange }: StoryProps) {
  const isDisabled = endpoint.disabledAt !== null;
  // The history of a deleted endpoint is for reading.
  const mayChange = canChange && endpoint.deletedAt === undefined;
  return (
    <>
      <PageHead
        back={<Back workspaceId={workspaceId} />}
        title={<EndpointName endpoint={endpoint} />}
        documentTitle={endpoint.name ?? endpoint.url}
        subtitle={<HealthMark endpoint={endpoint} />}
        actions={
          mayChange ? (
            <>
              <ChangeEndpointDialog workspaceId={workspaceId} endpoint={endpoint} />
              <RotateSecretDialog workspaceId={workspaceId} endpointId={endpoint.id} />
              {!isDisabled && <TurnOffDialog workspaceId={workspaceId} endpoint={endpoint} />}
              <DeleteEndpoint workspaceId={workspaceId} endpoint={endpoint} />
            </>
          ) : undefined
        }
      />
      <EndpointState workspaceId={workspaceId} endpoint={endpoint} canChange={mayChange} />
      <dl className="endpoint-facts">
        <div>
          <dt>Events</dt>
          <dd>{describeKinds(endpoint.eventKinds)}</dd>
        </div>
        <div>
          <dt>Added</dt>
          <dd>
            <When at={endpoint.createdAt} />
          </dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd>
            <code>{endpoint.id}</code>
          </dd>
        </div>
      </dl>
      {mayChange && (
        <TestEvent workspaceId={workspaceId} endpointId={endpoint.id} isDisabled={isDisabled} />
      )}
      <section className="section" aria-labelledby="days-title">
        <h2 id="days-title">Last {endpoint.perDay.length} days</h2>
        <DaysView days={endpoint.perDay} />
      </section>
      <DeliveryList workspaceId={workspaceId} endpoint={endpoint} canChange={mayChange} />
    </>
  );
}
