import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ReceiptCase } from "../../../../../scripts/proof-vectors/receipt-cases.ts";
import type { Given } from "./check.ts";
import { checkReceipt } from "./check-receipt.ts";

const path = join(import.meta.dirname, "../../../../../docs/proof-vectors.json");
const { receipts, keySets } = JSON.parse(readFileSync(path, "utf8")) as {
  receipts: ReceiptCase[];
  keySets: Record<string, object>;
};

/** Flaws of the receipt itself, whatever it is compared with. */
const ofItself = /^(malformed|wrong_type|wrong_algorithm|key_\w+|signature_invalid|assertion_\w+)$/;

test("no receipt that the SDK refuses for what it is has only right lines", async () => {
  const flawed = receipts.filter(({ says }) => ofItself.test(says));
  assert.ok(flawed.some(({ says }) => says === "key_retired"));
  for (const { name, says, receipt, keySet, issuer, now, credentials = [] } of flawed) {
    if (says === "assertion_missing") continue;
    const given = {
      ...{ workspaceId: "ws_1", issuer, nowMs: now * 1_000 },
      request: { id: "req_1", status: "APPROVED", payload: null, edit: null, evidence: [] },
      proof: { receipt, jwks: keySets[keySet], credentials, log: null },
    } as unknown as Given;
    const checks = await checkReceipt(given);
    const told = checks.filter(({ title }) => /signature/i.test(title));
    assert.ok(
      told.some(({ state }) => state === "wrong"),
      `${name} (${says}): ${JSON.stringify(told)}`,
    );
  }
});
