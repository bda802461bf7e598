// Sends a test event and shows the outcome of its first attempt.

import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { outcomeSentence } from "../../../../server/src/domain/shown/outcome-words.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeDuration } from "../../look/time/duration.ts";
import { DeliveryMark } from "../deliveries/delivery-mark.tsx";
import { Button } from "../parts/button.tsx";
import { When } from "../parts/when.tsx";
import { call } from "../service/api.ts";
import { queryFor, refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";

/** An attempt takes 10 seconds at most; most take less than one. */
const pollMs = 700;

type TestEventProps = { workspaceId: string; endpointId: string; isDisabled: boolean };

export function TestEvent({ workspaceId, endpointId, isDisabled }: TestEventProps) {
  const sending = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/endpoints/:endpointId/test", {
        params: { workspaceId, endpointId },
      }),
    onSuccess: () => refresh("GET /workspaces/:workspaceId/deliveries"),
  });
  return (
    <section className="panel test-event" aria-labelledby="test-title">
      <div className="section-head">
        <div>
          <h2 id="test-title">Send a test event</h2>
          <p className="quiet small">
            Sends a signed <code>webhook.test</code> event. It isn’t tied to a request.
          </p>
        </div>
        <Button isBusy={sending.isPending} disabled={isDisabled} onClick={() => sending.mutate()}>
          Send test event
        </Button>
      </div>
      {isDisabled && <p className="quiet small">Enable the endpoint first.</p>}
      <Problem error={sending.error} />
      <div role="status">
        {sending.isSuccess && (
          <TestResult workspaceId={workspaceId} deliveryId={sending.data.deliveryId} />
        )}
      </div>
    </section>
  );
}

function TestResult({ workspaceId, deliveryId }: { workspaceId: string; deliveryId: string }) {
  const delivery = useQuery({
    ...queryFor("GET /workspaces/:workspaceId/deliveries/:deliveryId", {
      params: { workspaceId, deliveryId },
    }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOver(data) ? false : pollMs),
  });
  const isDone = delivery.data !== undefined && isOver(delivery.data);
  // The attempt also counts in the endpoint's days and lists.
  useEffect(() => {
    if (!isDone) return;
    void refresh(
      "GET /workspaces/:workspaceId/deliveries",
      "GET /workspaces/:workspaceId/endpoints",
      "GET /workspaces/:workspaceId/endpoints/:endpointId",
    );
  }, [isDone, deliveryId]);
  if (delivery.data === undefined && delivery.isError) return <Problem error={delivery.error} />;
  if (delivery.data === undefined || !isDone) return <p className="test-result">On its way …</p>;
  const { state, lastOutcome, lastHttpStatus, nextAttemptAt, attemptList } = delivery.data;
  const took = attemptList.at(-1)?.durationMs ?? null;
  return (
    <p className="test-result">
      <DeliveryMark state={state === "due" ? "failed" : state} />
      <span>
        {outcomeSentence("endpoint", { outcome: lastOutcome, httpStatus: lastHttpStatus })}
        {took !== null && ` It took ${describeDuration(took)}.`}
        {nextAttemptAt !== null && (
          <>
            {" "}
            We’ll try again <When at={nextAttemptAt} isRelative isPlain />.
          </>
        )}{" "}
        <Link to="/app/w/$workspaceId/deliveries/$deliveryId" params={{ workspaceId, deliveryId }}>
          See the webhook and the response
        </Link>
      </span>
    </p>
  );
}

/** The reader waits for the first attempt only, so its end is enough. */
function isOver({ state, lastOutcome }: Delivery): boolean {
  return state !== "due" || lastOutcome !== null;
}
