import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countBehind,
  countChosen,
  filterOf,
  withSort,
  withStatus,
  withWaitingFor,
} from "./filter-state.ts";

test("an address becomes a filter, and what cannot be one is left out", () => {
  assert.deepEqual(
    filterOf({
      status: "PENDING",
      agent: "",
      search: 1042,
      from: "yesterday",
      odd: "x",
      to: ["a"],
    }),
    { status: "PENDING", agent: "", search: "1042" },
  );
  assert.deepEqual(filterOf({ status: "DONE" }), {});
});

test("requests without an agent's name are a choice, too", () => {
  assert.equal(countChosen({ agent: "" }), 1);
  assert.equal(countBehind({ agent: "", status: "PENDING", search: "x" }), 1);
});

test("an order and the times of decisions are read from the address, and nonsense is left out", () => {
  const decidedFrom = "2026-03-01T00:00:00.000Z";
  assert.deepEqual(
    filterOf({ sort: "expiry", decidedBy: "bob@example.com", decidedFrom, decidedTo: "soon" }),
    { sort: "expiry", decidedBy: "bob@example.com", decidedFrom },
  );
  assert.deepEqual(filterOf({ sort: "newest" }), {});
  assert.deepEqual(filterOf({ sort: "size" }), {});
  assert.equal(countBehind({ decidedBy: "bob@example.com", decidedFrom, sort: "oldest" }), 2);
});

test("by expiry only pending requests are listed, and choosing another status ends that order", () => {
  assert.deepEqual(withSort("expiry", { status: "APPROVED" }), {
    sort: "expiry",
    status: "PENDING",
  });
  assert.deepEqual(withSort("newest", { sort: "oldest" }), { sort: undefined, status: undefined });
  assert.deepEqual(withStatus("APPROVED", { sort: "expiry" }), {
    status: "APPROVED",
    sort: undefined,
  });
  assert.deepEqual(withStatus("APPROVED", { sort: "oldest" }), { status: "APPROVED" });
});

test("whom requests wait for, and what is the matter, is read from the address", () => {
  const address = { waitingFor: "ann@x.example", escalated: "yes", unreachable: "no" };
  const filter = filterOf(address);
  assert.deepEqual(filter, { waitingFor: "ann@x.example", escalated: "yes" });
  assert.deepEqual([countChosen(filter), countBehind(filter)], [2, 2]);
});

test("only pending requests wait for somebody: choosing one ends the other", () => {
  assert.deepEqual(withStatus("APPROVED", { waitingFor: "ann@x.example" }), {
    status: "APPROVED",
    waitingFor: undefined,
  });
  assert.deepEqual(withStatus("PENDING", { waitingFor: "ann@x.example" }), { status: "PENDING" });
  assert.deepEqual(withWaitingFor("ann@x.example", { status: "EXPIRED" }), {
    waitingFor: "ann@x.example",
    status: undefined,
  });
  assert.deepEqual(withWaitingFor(undefined, { status: "EXPIRED" }), { waitingFor: undefined });
});
