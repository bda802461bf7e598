// Computes everything anew that proves a decision. It is loaded when somebody asks for it.

import { type Check, type Given, open, wrong } from "./check.ts";
import { checkLog } from "./check-log.ts";
import { checkReceipt, claimsOf } from "./check-receipt.ts";

export async function checkProof(given: Given): Promise<Check[]> {
  if (globalThis.crypto?.subtle === undefined) {
    return [{ title: "Everything", ...open("Browsers compute this only on pages with https.") }];
  }
  const { receipt } = given.proof;
  const ofReceipt = await checkReceipt(given);
  const claims = receipt === null ? null : claimsOf(receipt);
  const ofLog = await checkLog(given, claims).catch(() => [
    { title: "Log", ...wrong("What was sent of the log can’t be read.") },
  ]);
  return [...ofReceipt, ...ofLog];
}
