// What an agent calls itself: the agent's word, and quoted.

import { Visible } from "./visible-text.tsx";
import { words } from "./words.ts";

export function AgentName({ agentName }: { agentName: string | null }) {
  if (agentName === null) return <span className="quiet">{words.agentUnnamed}</span>;
  return (
    <>
      {words.agentCallsItself}{" "}
      <q className="quoted">
        <Visible text={agentName} />
      </q>
    </>
  );
}
