// The manifest from which Slack makes the app, to copy.

import type { SlackMode } from "../../../../server/src/wire/dashboard-channels.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useCall } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";

type SlackManifestProps = { workspaceId: string; mode: SlackMode; matchesEmail: boolean };

export function SlackManifest({ workspaceId, mode, matchesEmail }: SlackManifestProps) {
  const manifest = useCall("GET /workspaces/:workspaceId/slack/manifest", {
    params: { workspaceId },
    query: { mode, matchesEmail: matchesEmail ? "true" : "false" },
  });
  return (
    <details className="folded">
      <summary>The app’s manifest</summary>
      <p className="quiet">
        In Slack: <code>api.slack.com/apps</code>, Create New App, From a manifest.
      </p>
      <Answered query={manifest} label="Loading the manifest" lines={4}>
        {({ text }) => <CopyBox label="Manifest" text={text} />}
      </Answered>
    </details>
  );
}
