// The settings of proof, for members who may see but not change them.

import type { ProofSettings } from "../../../../server/src/wire/dashboard-settings.ts";
import { describeCount } from "../../look/shares.ts";

export function ProofFacts({ requiresSignature, receiptHours, retentionDays }: ProofSettings) {
  const facts: [label: string, value: string, sentence: string][] = [
    [
      "Approving needs a passkey",
      requiresSignature ? "Yes" : "No",
      "Whether approvers sign each approval with a passkey of their own.",
    ],
    [
      "Receipts are valid for",
      receiptHours === 1 ? "1 hour" : `${describeCount(receiptHours)} hours`,
      "How long a program may act on a receipt, counted from the decision.",
    ],
    [
      "Delete requests",
      retentionDays === null ? "Never" : `${describeCount(retentionDays)} days after they ended`,
      "Deleted requests can’t be brought back. The log keeps that there was one.",
    ],
  ];
  return (
    <section className="settings-part" aria-labelledby="proof-settings-title">
      <h2 id="proof-settings-title">Proof</h2>
      <dl className="panel setting-facts">
        {facts.map(([label, value, sentence]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {value}
              <span className="quiet small">{sentence}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p className="quiet">Owners of this workspace can change these.</p>
    </section>
  );
}
