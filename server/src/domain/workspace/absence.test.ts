import assert from "node:assert/strict";
import { test } from "node:test";
import { flawOfAbsence, fromNowOn } from "./absence.ts";

const now = new Date("2026-11-18T12:00:00Z");
const at = (days: number) => new Date(now.getTime() + days * 86_400_000);
const flawed = (startsAt: Date, endsAt: Date) => flawOfAbsence({ startsAt, endsAt }, now)?.field;

test("an absence begins within a year, ends after its beginning, and lasts at most a year", () => {
  assert.equal(flawed(at(0), at(1)), undefined);
  assert.equal(flawed(at(366), at(366 + 366)), undefined);
  assert.equal(flawed(at(366.1), at(367)), "startsAt");
  assert.equal(flawed(at(1), at(1)), "endsAt");
  assert.equal(flawed(at(2), at(1)), "endsAt");
  assert.equal(flawed(at(1), at(367.1)), "endsAt");
  assert.equal(flawed(at(-3), at(-1)), "endsAt");
});

test("an absence that is said to have begun begins now", () => {
  const times = { startsAt: at(-0.5), endsAt: at(1) };
  assert.deepEqual(fromNowOn(times, now), { startsAt: now, endsAt: at(1) });
  assert.deepEqual(fromNowOn({ ...times, startsAt: at(0.5) }, now).startsAt, at(0.5));
});
