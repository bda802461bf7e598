// The approver: an address, or a group's name.

import type { RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";

type ApproverNameProps = Pick<RequestRow, "approverEmail" | "approverGroup">;

export function ApproverName({ approverEmail, approverGroup }: ApproverNameProps) {
  if (approverGroup === null) return <Visible text={approverEmail ?? "–"} />;
  return (
    <>
      <Visible text={approverGroup.name} /> <span className="quiet">group</span>
    </>
  );
}
