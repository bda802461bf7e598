// Slack for the workspace: whether it is connected and works, and what an owner can do about it.

import type { SlackConnection } from "../../../../server/src/wire/dashboard-channels.ts";
import { Fact } from "../../look/fact.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";
import { When } from "../parts/when.tsx";
import { ChangeSlackDialog } from "./change-slack-dialog.tsx";
import { brokenSentence, modeWords } from "./channel-words.ts";
import { ConnectSlackDialog } from "./connect-slack-dialog.tsx";
import { DisconnectSlack } from "./disconnect-slack.tsx";
import { TestSlack } from "./test-slack.tsx";

type SlackPanelProps = { workspaceId: string; slack: SlackConnection | null; canChange: boolean };

export function SlackPanel({ workspaceId, slack, canChange }: SlackPanelProps) {
  return (
    <section className="panel channel-panel" aria-labelledby="slack-title">
      <h2 id="slack-title">Slack</h2>
      {slack === null ? (
        <NotConnected workspaceId={workspaceId} canChange={canChange} />
      ) : (
        <>
          {slack.broken !== null && (
            <p className="attention-note">
              Slack refuses this connection since <When at={slack.broken.at} isRelative />:{" "}
              <Visible text={brokenSentence(slack.broken.reason)} />. Nothing is sent to Slack, and
              mail goes out at once. {canChange ? "Connect it again." : "Tell an owner."}
            </p>
          )}
          <SlackFacts slack={slack} />
          {canChange && (
            <div className="channel-actions">
              {slack.broken === null && <TestSlack workspaceId={workspaceId} />}
              <ChangeSlackDialog workspaceId={workspaceId} slack={slack} />
              <ConnectSlackDialog
                workspaceId={workspaceId}
                before={slack}
                trigger={
                  <Button {...(slack.broken === null ? {} : { variant: "primary" as const })}>
                    Connect again
                  </Button>
                }
              />
              <DisconnectSlack workspaceId={workspaceId} teamName={slack.teamName} />
            </div>
          )}
        </>
      )}
    </section>
  );
}

function NotConnected({
  workspaceId,
  canChange,
}: Pick<SlackPanelProps, "workspaceId" | "canChange">) {
  return (
    <>
      <p className="quiet">
        Slack isn’t connected. Once it is, people are asked in Slack, directly or in their group’s
        channel, and can decide there. Slack proves who pressed a button: being in a channel gives
        no right.
      </p>
      {canChange ? (
        <div className="channel-actions">
          <ConnectSlackDialog
            workspaceId={workspaceId}
            before={null}
            trigger={<Button variant="primary">Connect Slack</Button>}
          />
        </div>
      ) : (
        <p className="quiet">Owners of this workspace can connect it.</p>
      )}
    </>
  );
}

function SlackFacts({ slack }: { slack: SlackConnection }) {
  return (
    <dl className="channel-facts">
      <Fact name="Slack workspace">
        <Visible text={slack.teamName} />
      </Fact>
      <Fact name="Clicks come by">{modeWords[slack.mode].name}</Fact>
      <Fact name="Connected">
        <When at={slack.connectedAt} />
        {" by "}
        {slack.connectedBy === null ? "the operator" : <Visible text={slack.connectedBy} />}
      </Fact>
      <Fact name="People are known by">
        {slack.matchesEmail
          ? "An account they linked, or the confirmed address of their Slack profile"
          : "An account they linked in their inbox"}
      </Fact>
      <Fact name="Payloads">
        {slack.showsPayload ? "Shown in Slack" : "Kept out of Slack: messages lead to the inbox"}
      </Fact>
    </dl>
  );
}
