// The workspace's log as a file, which can be verified without the service.

import { addressOf } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";

const formats = [
  { format: "jsonl", word: "Export for verifying" },
  { format: "csv", word: "Export as CSV" },
] as const;

export function LogExport({ workspaceId }: { workspaceId: string }) {
  return (
    <section className="panel callback-secret" aria-labelledby="log-export-title">
      <div>
        <h2 id="log-export-title">Log</h2>
        <p className="quiet">
          Everything that happened in this workspace, with decisions, evidence and receipts. It can
          be verified <a href={`${basePath}/docs/proof#check-without-us`}>without this service</a>.
          The activity notes each export.
        </p>
      </div>
      <div className="callback-secret-actions">
        {formats.map(({ format, word }) => (
          <a
            key={format}
            className="button"
            download
            href={addressOf("/workspaces/:workspaceId/log/export", {
              params: { workspaceId },
              query: { format },
            })}
          >
            {word}
          </a>
        ))}
      </div>
    </section>
  );
}
