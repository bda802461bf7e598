// Submits a checkpoint to a witness (c2sp.org/tlog-witness) and reports what it said. Addresses are vetted and everything
// is bounded as for webhooks.

import type { AddressPolicy } from "../domain/access/network-address.ts";
import { webhookTimeoutMs } from "../domain/limits.ts";
import { findCosignature } from "../domain/proof/cosignature.ts";
import { withSignatures } from "../domain/proof/note.ts";
import type { WitnessSetting } from "../domain/proof/witness-settings.ts";
import { parseSize, submissionBody } from "../domain/proof/witness-submission.ts";
import type { NameSources } from "./resolve-host.ts";
import { type WebhookAnswer, WebhookSender } from "./send-webhook.ts";

export type CheckpointSubmission = { oldSize: number; proof: readonly Buffer[]; note: string };

export type AddCheckpointOutcome =
  | { kind: "cosigned"; line: string }
  /** It has cosigned another size than the submission begins with. */
  | { kind: "knows"; size: number }
  /** It has cosigned something that this checkpoint does not follow from. */
  | { kind: "contradicted" }
  | { kind: "failed"; reason: string };

export type AddCheckpoint = (
  witness: WitnessSetting,
  submission: CheckpointSubmission,
) => Promise<AddCheckpointOutcome>;

export type CheckpointSenderOptions = {
  policy: AddressPolicy;
  timeoutMs?: number;
  /** Trusted instead of the system's certificate authorities. */
  ca?: string;
  names?: NameSources;
};

export class CheckpointSender {
  readonly #sender: WebhookSender;

  constructor({ timeoutMs = webhookTimeoutMs, ...options }: CheckpointSenderOptions) {
    this.#sender = new WebhookSender({ ...options, timeoutMs });
  }

  async send(
    { key, url }: WitnessSetting,
    { oldSize, proof, note }: CheckpointSubmission,
  ): Promise<AddCheckpointOutcome> {
    const body = Buffer.from(submissionBody(oldSize, proof, note));
    const headers = { "content-type": "text/plain; charset=utf-8" };
    const answer = await this.#sender.send({ url, headers, body });
    if (answer.status === 200 && answer.outcome === "delivered") {
      const line = cosignatureIn(answer.responseStart ?? "", note, key);
      return line === null ? failed("its cosignature is wrong") : { kind: "cosigned", line };
    }
    return toOutcome(answer);
  }

  /** Ends submissions under way as lost connections. */
  close(): void {
    this.#sender.close();
  }
}

/** Lines of other keys are ignored, whatever they are. */
function cosignatureIn(text: string, note: string, key: WitnessSetting["key"]): string | null {
  const lines = text.split("\n").filter((line) => line.startsWith(`\u2014 ${key.name} `));
  for (const line of lines) {
    const found = findCosignature(withSignatures(note, [line]), key);
    if (found !== null) return found;
  }
  return null;
}

function toOutcome({ status, outcome, responseStart }: WebhookAnswer): AddCheckpointOutcome {
  if (status === 409) {
    const size = parseSize((responseStart ?? "").trimEnd());
    return size === null ? failed("its 409 names no size") : { kind: "knows", size };
  }
  if (status === 422) return { kind: "contradicted" };
  if (status === 404) return failed("it doesn't know this log (404)");
  if (status === 403) return failed("it doesn't trust the log's key (403)");
  return failed(status === null ? outcome.replaceAll("_", " ") : `it answered ${status}`);
}

function failed(reason: string): AddCheckpointOutcome {
  return { kind: "failed", reason };
}
