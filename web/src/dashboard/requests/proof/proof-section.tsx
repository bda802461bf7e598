// What is kept as proof of a decision.

import { useQuery } from "@tanstack/react-query";
import type { RequestDetail } from "../../../../../server/src/wire/dashboard-contract.ts";
import { queryFor } from "../../service/queries.ts";
import { Answered } from "../../states/answered.tsx";
import { EvidenceList } from "./evidence-list.tsx";
import { LogPart } from "./log-part.tsx";
import { isDecisionInstalled } from "./readable-proof.ts";
import { ReceiptPart } from "./receipt-part.tsx";
import { VerifyPart } from "./verify-part.tsx";
import "./proof.css";

type ProofSectionProps = { workspaceId: string; request: RequestDetail };

/** Only decisions have one: what expired or was cancelled proves nothing. */
export function ProofSection({ workspaceId, request }: ProofSectionProps) {
  if (request.status !== "APPROVED" && request.status !== "REJECTED") return null;
  return <Proof workspaceId={workspaceId} request={request} />;
}

function Proof({ workspaceId, request }: ProofSectionProps) {
  const proof = useQuery({
    ...queryFor("GET /workspaces/:workspaceId/requests/:requestId/proof", {
      params: { workspaceId, requestId: request.id },
    }),
    refetchInterval: ({ state }) =>
      isDecisionInstalled(state.data?.log) || !isFresh(request) ? false : refreshMs,
  });
  return (
    <section className="said proof" aria-labelledby="proof-title">
      <h2 id="proof-title">Proof</h2>
      <EvidenceList evidence={request.evidence ?? []} />
      <Answered query={proof} label="Loading the proof" lines={3}>
        {(found) => (
          <>
            {found.receipt !== null && (
              <ReceiptPart receipt={found.receipt} requestId={request.id} />
            )}
            <LogPart log={found.log} />
            <VerifyPart workspaceId={workspaceId} request={request} proof={found} />
          </>
        )}
      </Answered>
    </section>
  );
}

const refreshMs = 4_000;
const freshMs = 2 * 60_000;

/** The log takes a decision up within seconds. One that it doesn't have by now is from before the log. */
function isFresh({ resolvedAt }: RequestDetail): boolean {
  return resolvedAt !== null && Date.now() - Date.parse(resolvedAt) < freshMs;
}
