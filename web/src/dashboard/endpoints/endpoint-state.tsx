// Says why an endpoint fails, is disabled or was deleted, and what to do. Shows nothing while it works.

import type { Endpoint } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { Visible } from "../../look/visible-text.tsx";
import { When } from "../parts/when.tsx";
import { TurnOnButton } from "./turn-on-button.tsx";

type EndpointStateProps = { workspaceId: string; endpoint: Endpoint; canChange: boolean };

export function EndpointState({ workspaceId, endpoint, canChange }: EndpointStateProps) {
  const { id, deletedAt, disabledAt, disabledReason, failingSince } = endpoint;
  if (deletedAt !== undefined) {
    return (
      <section className="endpoint-state" aria-label="Deleted">
        <p>
          <strong>
            Deleted <When at={deletedAt} isRelative />
          </strong>
          . Nothing is sent here any more. Its deliveries can still be read.
        </p>
      </section>
    );
  }
  if (disabledAt !== null) {
    return (
      <section className="endpoint-state" aria-label="Disabled">
        <div>
          <p>
            <strong>
              Disabled <When at={disabledAt} isRelative />
            </strong>
            {disabledReason !== null && (
              <>
                : <Visible text={disabledReason} />
              </>
            )}
          </p>
          <p className="quiet small">
            Events are skipped until it is enabled.
            {canChange && " Enable it, then use “Resend all since”."}
          </p>
        </div>
        {canChange && <TurnOnButton workspaceId={workspaceId} endpointId={id} />}
      </section>
    );
  }
  if (failingSince === null) return null;
  return (
    <section className="endpoint-state endpoint-state-attention" aria-label="Failing">
      <div>
        <p>
          <strong>
            Every attempt has failed since <When at={failingSince} isRelative />
          </strong>
        </p>
        <p className="small">
          The deliveries below say why. The owners get a mail when the first delivery is given up.
          If no attempt succeeds for five days, we disable the endpoint, and warn them before.
        </p>
      </div>
    </section>
  );
}
