import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenDeliveries, filterOfDeliveries } from "./delivery-filter.ts";

const working = {
  id: "we_1",
  disabledAt: null,
  failingSince: null,
  unsuccessful: { count: 0, isMore: false, since: null },
};

test("failed deliveries are shown first, and all of them when that is chosen", () => {
  assert.deepEqual(filterOfDeliveries({}, working), { endpoint: "we_1", state: "failed" });
  assert.deepEqual(filterOfDeliveries({ state: "all" }, working), { endpoint: "we_1" });
  assert.deepEqual(filterOfDeliveries({ state: "lost" }, working), {
    endpoint: "we_1",
    state: "failed",
  });
});

test("event and time narrow the list, and nonsense does not", () => {
  const from = "2026-03-01T00:00:00.000Z";
  const search = { state: "all", event: "request.approved", from, to: "soon" };
  assert.deepEqual(filterOfDeliveries(search, working), {
    endpoint: "we_1",
    event: "request.approved",
    from,
  });
  assert.equal(chosenDeliveries(search, working).none, "No delivery fits all filters.");
});
