// Where a group is asked beside mail, and when its mail goes out.

import type { GroupChannels } from "../../../../server/src/wire/dashboard-channels.ts";
import { Fact } from "../../look/fact.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { mailWords } from "./channel-words.ts";

export function GroupFacts({ channels }: { channels: GroupChannels }) {
  const { slackChannel, teamsHost, mailAfterMinutes } = channels;
  return (
    <dl className="channel-facts">
      {slackChannel !== null && (
        <Fact name="Slack channel">
          #<Visible text={slackChannel.name} />
        </Fact>
      )}
      {teamsHost !== null && (
        <Fact name="Teams webhook">
          <Visible text={teamsHost} />
        </Fact>
      )}
      <Fact name="Mail">{mailWords(mailAfterMinutes)}</Fact>
    </dl>
  );
}
