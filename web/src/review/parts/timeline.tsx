// The agent's recent actions, oldest first, in its own words.

import { Quote } from "../../look/quote.tsx";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";

export function Timeline({ actions }: { actions: readonly string[] }) {
  if (actions.length === 0) return null;
  return (
    <section className="said" aria-labelledby="actions-title">
      <h2 id="actions-title">{words.recentActions}</h2>
      <Quote label={words.agentWrote}>
        <ol className="timeline">
          {actions.map((action, at) => (
            <li key={at} id={`action-${at}`} tabIndex={-1}>
              <Visible text={action} isMultiLine />
            </li>
          ))}
        </ol>
      </Quote>
    </section>
  );
}
