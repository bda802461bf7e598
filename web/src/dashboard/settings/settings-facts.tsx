// The settings for members who may see but not change them.

import type { Workspace } from "../../../../server/src/wire/dashboard-settings.ts";
import { describeCount } from "../../look/shares.ts";
import { Visible } from "../../look/visible-text.tsx";
import { handOverWords, limitWords } from "./setting-words.ts";
import { describeMinutes } from "./time-span.ts";

export function SettingsFacts({ workspace }: { workspace: Workspace }) {
  const { name, expiryMinutes, reminderPercent, reviewCode, cap, defaultApprover } = workspace;
  const { approverLimit, approverDomains, handOver } = workspace;
  const facts: [label: string, value: string, sentence: string][] = [
    ["Name", name, "Approvers read it in every mail and on the review page."],
    [
      "Default expiry",
      describeMinutes(expiryMinutes),
      "How long a request waits when the agent sets no expiry.",
    ],
    [
      "Reminder",
      reminderPercent === null ? "Off" : `When ${reminderPercent}% of the time is left`,
      "One more mail to approvers who haven’t decided.",
    ],
    [
      "Review code",
      reviewCode ? "On" : "Off",
      "Approvers type six characters from the mail before the review page opens.",
    ],
    [
      "Default approver",
      defaultApprover ?? "Nobody",
      "Who is asked when an agent that uses the MCP tools names nobody.",
    ],
    [
      "Who can be asked",
      approverLimit === "domains"
        ? `${limitWords.domains}: ${approverDomains.join(", ")}`
        : limitWords[approverLimit ?? "anybody"],
      "An agent that names anybody else is refused.",
    ],
    [
      "Hand over",
      handOverWords[handOver],
      "Whether approvers can pass a request on to a colleague.",
    ],
    [
      "Safety cap",
      cap === null ? "Set by the plan" : `${describeCount(cap)} requests a month`,
      "The most requests a month.",
    ],
  ];
  return (
    <>
      <dl className="panel setting-facts">
        {facts.map(([label, value, sentence]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Visible text={value} />
              <span className="quiet small">{sentence}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p className="quiet">Owners and admins of this workspace can change these.</p>
    </>
  );
}
