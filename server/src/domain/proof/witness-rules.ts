// What a witness answers to a submitted checkpoint (c2sp.org/tlog-witness), in the order of the specification.

import { type Checkpoint, openNote, type VerifierKey } from "./note.ts";
import { emptyRoot, isConsistent } from "./tree.ts";
import type { Submission } from "./witness-submission.ts";

/** Cosign it. `isNew` means that the witness must remember it first. */
export type WitnessConsent = { kind: "cosign"; isNew: boolean };

export type WitnessRefusal =
  | { kind: "unknown_origin" }
  | { kind: "not_signed" }
  | { kind: "old_size_too_large" }
  | { kind: "other_size"; size: number }
  | { kind: "inconsistent" };

type Head = Pick<Checkpoint, "size" | "root">;

const nothing: Head = { size: 0, root: emptyRoot };

/** Whether one of the log's keys has signed it. Needs no head, so it is asked first. */
export function flawOfSigning(
  { checkpoint, noteText }: Submission,
  logs: readonly VerifierKey[],
): WitnessRefusal | null {
  const keys = logs.filter(({ name }) => name === checkpoint.origin);
  if (keys.length === 0) return { kind: "unknown_origin" };
  return openNote(noteText, keys) === null ? { kind: "not_signed" } : null;
}

/** `head` is the newest that the witness cosigned of this log, null before the first. */
export function judge(submission: Submission, head: Head | null): WitnessConsent | WitnessRefusal {
  const { oldSize, proof, checkpoint } = submission;
  const known = head ?? nothing;
  if (oldSize > checkpoint.size) return { kind: "old_size_too_large" };
  if (oldSize !== known.size) return { kind: "other_size", size: known.size };
  if (!follows(known, checkpoint, proof)) return { kind: "inconsistent" };
  return { kind: "cosign", isNew: head === null || checkpoint.size > head.size };
}

/** Every tree follows from the empty one, without a proof. The empty tree has one root. */
function follows(known: Head, { size, root }: Head, proof: readonly Buffer[]): boolean {
  if (known.size > 0) return isConsistent({ first: known, second: { size, root }, proof });
  return proof.length === 0 && (size > 0 || root.equals(emptyRoot));
}

/** One log has signed two heads of one size: nothing it says can be believed any more. */
export function isSplitView({ checkpoint }: Submission, head: Head | null): boolean {
  return checkpoint.size === head?.size && !checkpoint.root.equals(head.root);
}
