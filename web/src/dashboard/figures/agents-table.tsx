// Requests and outcomes by agent. The bars share one scale, so that their lengths compare.

import { Link } from "@tanstack/react-router";
import type { Overview } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeCount } from "../../look/shares.ts";
import { describeDuration } from "../../look/time/duration.ts";
import { Visible } from "../../look/visible-text.tsx";
import { approvedShare, partsOf } from "./outcomes.ts";
import { PartBar } from "./part-bar.tsx";

type AgentsTableProps = { workspaceId: string; agents: Overview["perAgent"] };

export function AgentsTable({ workspaceId, agents }: AgentsTableProps) {
  const most = Math.max(0, ...agents.map(({ asked }) => asked));
  return (
    <section className="figure-card" aria-labelledby="agents-title">
      <div className="figure-head">
        <h2 id="agents-title">By agent</h2>
        <p>Colours and patterns as above</p>
      </div>
      <table className="agents">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Requests</th>
            <th scope="col">Approved</th>
            <th scope="col">Median</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr key={agent.agentName === null ? "unnamed" : `named ${agent.agentName}`}>
              <th scope="row">
                <Link
                  to="/app/w/$workspaceId/requests"
                  params={{ workspaceId }}
                  search={{ agent: agent.agentName ?? "" }}
                >
                  {agent.agentName === null ? "Unnamed agent" : <Visible text={agent.agentName} />}
                </Link>
                <PartBar parts={partsOf(agent)} of={most} />
              </th>
              <td data-name="Requests">{describeCount(agent.asked)}</td>
              <td data-name="Approved">{approvedShare(agent) ?? "–"}</td>
              <td data-name="Median">
                {agent.medianMs === null ? "–" : describeDuration(agent.medianMs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
