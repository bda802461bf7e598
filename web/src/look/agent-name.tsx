// An agent's own name for itself: quoted, because nobody has verified it.

import { Visible } from "./visible-text.tsx";
import { words } from "./words.ts";

export function AgentName({ agentName }: { agentName: string | null }) {
  if (agentName === null) return <span className="quiet">{words.agentUnnamed}</span>;
  return (
    <q className="quoted">
      <Visible text={agentName} />
    </q>
  );
}
