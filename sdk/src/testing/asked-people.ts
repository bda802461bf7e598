// Whom a request of a fake service asks: an address, or the members of one of its groups.

import type { Approver } from "../../../server/src/domain/approval/approval.ts";
import { type Refusal, refuse } from "../../../server/src/domain/refusal.ts";
import type { Notify } from "../../../server/src/domain/workspace/notify.ts";

export type FakeGroup = { key: string; name: string; members: readonly string[] };

export type Askable = { groups: readonly FakeGroup[]; hasGroups: boolean };

export type AskedPeople = { approver: Approver; emails: readonly string[] };

/** `place` is the field that names them. */
export function findAsked(
  notify: Notify,
  { groups, hasGroups }: Askable,
  place = "notify",
): AskedPeople | Refusal {
  if (notify.kind === "address") return { approver: notify, emails: [notify.email] };
  const { key } = notify;
  if (!hasGroups) {
    return refuse(
      "plan_required",
      `${place}: approver groups are not part of the hobby plan. Notify an e-mail address, or move the workspace to a plan with groups.`,
    );
  }
  const group = groups.find((each) => each.key === key);
  if (group === undefined) {
    return refuse(
      "unknown_group",
      `${place}: this workspace has no group with the key ${key}. Check the key, or create the group first.`,
    );
  }
  if (group.members.length === 0) {
    return refuse(
      "empty_group",
      `${place}: the group ${key} has no members to notify. Add at least one.`,
    );
  }
  return { approver: { kind: "group", key, name: group.name }, emails: group.members };
}
