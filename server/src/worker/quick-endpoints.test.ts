import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointsRememberedMax, quickAnswerMs } from "../domain/limits.ts";
import { QuickEndpoints } from "./quick-endpoints.ts";

const soon = { isDelivered: true, durationMs: quickAnswerMs / 5 };
const late = { isDelivered: true, durationMs: quickAnswerMs * 10 };

test("an endpoint that is unknown or answers late is not quick, one that answers soon is", () => {
  const endpoints = new QuickEndpoints();
  assert.deepEqual(endpoints.list(), []);
  endpoints.note("soon", soon);
  endpoints.note("late", late);
  assert.deepEqual(endpoints.list(), ["soon"]);
});

test("one late answer among many does not count, several do, and soon ones make up for them", () => {
  const endpoints = new QuickEndpoints();
  for (let n = 0; n < 50; n += 1) endpoints.note("we", soon);
  endpoints.note("we", { isDelivered: true, durationMs: quickAnswerMs * 2 });
  assert.deepEqual(endpoints.list(), ["we"]);
  for (let n = 0; n < 3; n += 1) endpoints.note("we", late);
  assert.deepEqual(endpoints.list(), []);
  for (let n = 0; n < 50; n += 1) endpoints.note("we", soon);
  assert.deepEqual(endpoints.list(), ["we"]);
});

test("an endpoint that fails is unknown again, however soon it failed", () => {
  const endpoints = new QuickEndpoints();
  endpoints.note("we", soon);
  endpoints.note("we", { isDelivered: false, durationMs: 1 });
  assert.deepEqual(endpoints.list(), []);
});

test("the number of remembered endpoints is bounded", () => {
  const endpoints = new QuickEndpoints();
  for (let n = 0; n <= endpointsRememberedMax; n += 1) endpoints.note(`we_${n}`, soon);
  assert.deepEqual(endpoints.list(), [`we_${endpointsRememberedMax}`]);
});
