// Checks the proof in the browser, and says line by line what was checked, what differs and what could not be checked.

import { useMutation } from "@tanstack/react-query";
import type { RequestDetail } from "../../../../../server/src/wire/dashboard-contract.ts";
import type { RequestProof } from "../../../../../server/src/wire/dashboard-proof.ts";
import { Visible } from "../../../look/visible-text.tsx";
import { Button } from "../../parts/button.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { basePath } from "../../service/base-path.ts";
import { Problem } from "../../states/problem.tsx";
import type { Check } from "./check.ts";
import { summaryOf } from "./check-words.ts";

type VerifyPartProps = { workspaceId: string; request: RequestDetail; proof: RequestProof };

export function VerifyPart({ workspaceId, request, proof }: VerifyPartProps) {
  const checking = useMutation({
    mutationFn: async () => {
      // Few people ask for it, so it isn't part of the page.
      const { checkProof } = await import("./check-proof.ts");
      const issuer = `${location.origin}${basePath}`;
      return checkProof({ workspaceId, issuer, nowMs: Date.now(), request, proof });
    },
  });
  return (
    <div className="proof-part">
      <div className="proof-head">
        <h3>Verify</h3>
        <Button isBusy={checking.isPending} onClick={() => checking.mutate()}>
          Verify
        </Button>
      </div>
      <p className="quiet">
        Recomputes everything above in this browser. The service that you check also sent this page.
        To check without it, see <a href={`${basePath}/docs/proof`}>Proof, for auditors</a>.
      </p>
      <Problem error={checking.error} />
      {checking.data !== undefined && <Result checks={checking.data} />}
    </div>
  );
}

const icons: Record<Check["state"], IconName> = { right: "check", wrong: "alert", open: "clock" };
const states: Record<Check["state"], string> = {
  right: "Checked",
  wrong: "Differs",
  open: "Not checked",
};

function Result({ checks }: { checks: readonly Check[] }) {
  const isWrong = checks.some(({ state }) => state === "wrong");
  return (
    <>
      <p role={isWrong ? "alert" : "status"} className={isWrong ? "checks-wrong" : "checks-sum"}>
        {summaryOf(checks)}
      </p>
      <ol className="checks" aria-label="What was checked">
        {checks.map(({ state, title, detail }, at) => (
          <li key={at} className={`check-${state}`}>
            <Icon name={icons[state]} />
            <div>
              <p>
                <strong>
                  <Visible text={title} />
                </strong>{" "}
                <span className="check-state">{states[state]}</span>
              </p>
              <p>
                <Visible text={detail} />
              </p>
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}
