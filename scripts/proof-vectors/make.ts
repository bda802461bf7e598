// Writes docs/proof-vectors.json: `node scripts/proof-vectors/make.ts`. The same each time, but for its layout: format it after.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KeySet, receipts as verifier } from "../../sdk/src/proof/proof.ts";
import { assertionCases } from "./assertion-cases.ts";
import { entryCases, noteCases, proofCases, treeCases } from "./log-cases.ts";
import {
  caseOf,
  claimCases,
  formCases,
  operatorCases,
  plainCases,
  type ReceiptCase,
} from "./receipt-cases.ts";
import { keySets, receiptOf } from "./receipt-parts.ts";
import { ed25519Passkey, p256Passkey } from "./test-keys.ts";

const path = join(import.meta.dirname, "../../docs/proof-vectors.json");
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const about =
  "For testing a verifier of Countersign's receipts and log: see receipts.md. The keys are test keys that everybody knows. receipts: `says` is the level that was verified, or the reason of the refusal. An absent payload isn't compared, and null stands for no payload; absent credentials aren't checked. flips: the receipt of the case `of`, with the character at each place replaced by the next of the base64url alphabet (and a dot by A); says has runs of [reason, how many]. proof is the text of a tlog-proof, or that of the decision and that of its checkpoint in the installation's log; each of witnesses must have cosigned. notes: whether the key has signed the note. trees: proofs of inclusion and consistency, in standard base64. entries: whether an entry of the log stands for a text.";

export async function makeVectors(madeBefore: string): Promise<object> {
  const [ann, ben] = [p256Passkey("ann", signaturesIn(madeBefore)), ed25519Passkey("ben")];
  const receipts = [
    ...plainCases(),
    ...formCases(),
    ...claimCases(),
    ...operatorCases(ann),
    ...assertionCases(ann, ben),
    ...proofCases(),
  ];
  return {
    about,
    keySets,
    receipts,
    notes: noteCases(),
    trees: treeCases(),
    entries: entryCases(),
    flips: await makeFlips(caseOf("every byte", receiptOf(), "operator-signed")),
  };
}

/** What our own verifier says. The others must say the same. */
async function makeFlips(of: ReceiptCase): Promise<object> {
  const says: [string, number][] = [];
  for (let at = 0; at < of.receipt.length; at += 1) {
    const { receipt, keySet, ...options } = of;
    const jwks = keySets[keySet] as KeySet;
    const said = await verifier.verify(flipped(receipt, at), { ...options, jwks });
    const word = said.ok ? said.level : said.reason;
    const run = says.at(-1);
    if (run?.[0] === word) run[1] += 1;
    else says.push([word, 1]);
  }
  return { of, says };
}

export function flipped(receipt: string, at: number): string {
  const place = alphabet.indexOf(receipt[at] as string);
  const other = place === -1 ? "A" : alphabet[(place + 1) % 64];
  return `${receipt.slice(0, at)}${other}${receipt.slice(at + 1)}`;
}

/** ECDSA's signatures in an earlier file, which are kept. */
function signaturesIn(text: string): Set<string> {
  const found = new Set<string>();
  const receipts = text.matchAll(/"receipt": "[^."]*\.([^."]*)\./g);
  for (const [, claims = ""] of receipts) {
    const inside = Buffer.from(claims, "base64url").toString();
    for (const [, signature = ""] of inside.matchAll(/"signature":"(ME[^"]*)"/g))
      found.add(signature);
  }
  return found;
}

if (import.meta.main) {
  const madeBefore = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(path, `${JSON.stringify(await makeVectors(madeBefore), null, 2)}\n`);
}
