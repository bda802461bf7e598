import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMinutes } from "./time-span.ts";

test("minutes are told as people say them", () => {
  const said: [number, string][] = [
    [0, "0 minutes"],
    [1, "1 minute"],
    [90, "1 hour 30 minutes"],
    [1_440, "24 hours"],
    [2_160, "36 hours"],
    [2_880, "2 days"],
    [4_405, "3 days 1 hour 25 minutes"],
    [10_080, "7 days"],
  ];
  for (const [minutes, words] of said) assert.equal(describeMinutes(minutes), words);
});
