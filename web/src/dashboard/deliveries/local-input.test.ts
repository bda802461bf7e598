import assert from "node:assert/strict";
import { test } from "node:test";
import { fromLocalInput, toLocalInput } from "./local-input.ts";

test("a time survives the field, to the minute below", () => {
  assert.equal(
    fromLocalInput(toLocalInput("2026-11-15T13:04:59.999Z")),
    "2026-11-15T13:04:00.000Z",
  );
  assert.equal(
    fromLocalInput(toLocalInput("2026-07-01T00:00:00.000Z")),
    "2026-07-01T00:00:00.000Z",
  );
});

test("a field without a time is none", () => {
  assert.equal(fromLocalInput(""), null);
  assert.equal(fromLocalInput("yesterday"), null);
});
