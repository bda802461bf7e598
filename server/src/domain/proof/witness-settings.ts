// The witnesses that an operator names: whose cosignatures count, and where checkpoints are submitted.

import { flawOfReceiverUrl } from "../access/receiver-url.ts";
import { cosignatureV1, parseVerifierKey, type VerifierKey } from "./note.ts";

export type WitnessSetting = {
  key: VerifierKey;
  /** Where it takes checkpoints. */
  url: string;
};

/** Each makes a checkpoint longer, and verifiers must accept no more than this many signatures. */
export const witnessesMax = 15;
const urlCharactersMax = 2_000;

/** `vkey url, vkey url`. A text says what is wrong. */
export function parseWitnesses(text: string): WitnessSetting[] | string {
  const witnesses: WitnessSetting[] = [];
  for (const each of text.split(",").map((part) => part.trim())) {
    const [vkey = "", prefix = "", ...more] = each.split(/\s+/);
    const key = parseVerifierKey(vkey);
    const flaw = flawOfReceiverUrl(prefix, urlCharactersMax);
    if (key === null || more.length > 0) {
      return "must be a list of verifier keys with addresses, such as witness.example.com/one+1b2c3d4e+BH… https://witness.example.com, as countersign witness prints the key";
    }
    if (key.type !== cosignatureV1) return `${key.name} is the key of a log, not of a witness`;
    if (flaw !== null) return `the address of ${key.name} ${flaw}`;
    if (witnesses.some((other) => other.key.name === key.name)) return `names ${key.name} twice`;
    witnesses.push({ key, url: `${prefix.replace(/\/+$/, "")}/add-checkpoint` });
  }
  return witnesses.length > witnessesMax ? `takes at most ${witnessesMax} witnesses` : witnesses;
}
