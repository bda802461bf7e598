// Receipts of decisions: made when they are first asked for, signed once and kept. Calls that come together share their
// statements.

import { type Database, inOneStatement } from "../../database/database.ts";
import { DatabaseBusy } from "../../database/faults.ts";
import { gather } from "../../database/gathering.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { receiptClaims } from "../../domain/proof/receipt.ts";
import { signReceipt } from "../../domain/proof/receipt-token.ts";
import type { Signer } from "../../domain/proof/signing-key.ts";
import type { Recorder } from "../../domain/recorder.ts";
import * as receipts from "../../storage/proof/receipts.ts";
import { currentSigner } from "./signing-keys.ts";

export type ReceiptParts = {
  db: Database;
  keyring: Keyring;
  /** Whose address is the issuer; may still change until the service listens. */
  origin: { readonly publicUrl: string };
  recorder?: Recorder | null;
};

export type Receipt =
  | { jws: string }
  /** `signer`: SECRET_KEY lacks the key that opens the signing key. */
  | { missing: "unknown" | "undecided" | "signer" };

export type ReadReceipt = (where: receipts.Where) => Promise<Receipt>;

export function makeReadReceipt(parts: ReceiptParts): ReadReceipt {
  const { recorder = null } = parts;
  return gather((items: receipts.Where[]) => readMany(parts, items), {
    onBatch: recorder === null ? undefined : (items) => recorder.gathered("receipt", items),
  });
}

/** A key is rotated once in a while, not several times during a call. */
const triesMax = 5;

async function readMany(parts: ReceiptParts, items: receipts.Where[]): Promise<Receipt[]> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const found = await receipts.findMany(parts.db, items);
    const read = await signMissing(parts, found);
    if (read !== null) return read;
  }
  throw new DatabaseBusy("the signing key changed too often during one call");
}

type Unsigned = Extract<receipts.FoundReceipt, { kind: "unsigned" }>;

/** Null when the key was rotated, or another process kept one of them first: then all is read anew. */
async function signMissing(
  parts: ReceiptParts,
  found: receipts.FoundReceipt[],
): Promise<Receipt[] | null> {
  const unsigned = found.filter((each) => each.kind === "unsigned");
  if (unsigned.length === 0) return found.map((each) => toReceipt(each, new Map()));
  const signer = await currentSigner(parts.db, parts.keyring);
  if (signer === null) return found.map((each) => toReceipt(each, new Map()));
  // Of one moment: else one process might keep a receipt by the old key, and another one by the new key.
  if (unsigned.some(({ signingKeyId }) => signingKeyId !== signer.id)) return null;
  const signed = signAll(parts, unsigned, signer);
  const kept = await receipts.insertMany(inOneStatement(parts.db), signer.id, [...signed.values()]);
  return kept.size === signed.size ? found.map((each) => toReceipt(each, signed)) : null;
}

/** By request: the same one may be asked for several times at once. */
function signAll(
  { origin }: ReceiptParts,
  unsigned: readonly Unsigned[],
  signer: Signer,
): Map<string, receipts.SignedReceipt> {
  const { publicUrl } = origin;
  return new Map(
    unsigned.map(({ facts }) => {
      const { workspaceId, approvalId } = facts;
      const jws = signReceipt(receiptClaims(facts, publicUrl), signer);
      return [approvalId, { workspaceId, approvalId, jws }];
    }),
  );
}

function toReceipt(
  found: receipts.FoundReceipt,
  signed: ReadonlyMap<string, receipts.SignedReceipt>,
): Receipt {
  if (found.kind === "kept") return { jws: found.jws };
  if (found.kind !== "unsigned") return { missing: found.kind };
  const own = signed.get(found.facts.approvalId);
  return own === undefined ? { missing: "signer" } : { jws: own.jws };
}
