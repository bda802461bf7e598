import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { type Keyring, parseKeyring } from "./keyring.ts";
import { issueReviewTicket, isValidReviewTicket } from "./review-ticket.ts";

const newKey = () => randomBytes(32).toString("base64");
const [first, second] = [newKey(), newKey()];
const keyring = parseKeyring(first) as Keyring;
const now = new Date("2026-01-31T12:00:00.000Z");
const day = 24 * 3_600_000;
const ticket = issueReviewTicket(keyring, "rev_1", now);
const later = (ms: number) => new Date(now.getTime() + ms);
const isValid = (text: string, at = now, keys = keyring, reviewerId = "rev_1") =>
  isValidReviewTicket(keys, text, { reviewerId, now: at });

test("a ticket holds for its link, to the millisecond of a day", () => {
  assert.equal(isValid(ticket), true);
  assert.equal(isValid(ticket, later(day)), true);
  assert.equal(isValid(ticket, later(day + 1)), false);
  assert.equal(
    isValid(ticket, later(-1)),
    true,
    "a clock that was set back takes no one's page away",
  );
  assert.equal(isValid(ticket, now, keyring, "rev_2"), false);
});

test("it outlives the rotation of the key, and ends with the key", () => {
  const rotated = parseKeyring(`${second},${first}`) as Keyring;
  assert.equal(isValid(ticket, now, rotated), true);
  assert.equal(isValid(ticket, now, parseKeyring(second) as Keyring), false);
  assert.equal(isValid(issueReviewTicket(rotated, "rev_1", now), now, keyring), false);
});

test("whatever was changed about it, it is none", () => {
  const [time = "", signature = ""] = ticket.split(".");
  const younger = String(Number(time) + 1);
  for (const bad of [
    "",
    ".",
    time,
    signature,
    `${younger}.${signature}`,
    `0${time}.${signature}`,
    `${time}.${signature.slice(1)}`,
    `${time}.${signature}A`,
    ` ${ticket}`,
    `${ticket}\n`,
    `${time}.${"é".repeat(43)}`,
    `-${ticket}`,
    `1e9.${signature}`,
    "9".repeat(400),
  ]) {
    assert.equal(isValid(bad), false, bad);
  }
});
