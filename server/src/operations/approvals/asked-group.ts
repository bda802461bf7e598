// A group that a caller names: its members at this moment, or why they can't be asked.

import type { Approver } from "../../domain/approval/approval.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import type * as groups from "../../storage/people/groups.ts";
import type { GroupOfCaller } from "../../storage/people/groups.ts";

/** The reviewers: the address itself, or every member of the group at this moment. */
export type Asked = { approver: Approver; group: groups.Group | null; emails: string[] };

/** `place` is the field that names it. */
export function askedGroup(
  key: string,
  { planHasGroups, plan, group }: Pick<GroupOfCaller, "planHasGroups" | "plan" | "group">,
  place = "notify",
): Asked | Refusal {
  if (!planHasGroups) {
    return refuse(
      "plan_required",
      `${place}: approver groups are not part of the ${plan} plan. Notify an e-mail address, or move the workspace to a plan with groups.`,
    );
  }
  if (group === null) {
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
  const { name, members } = group;
  return { approver: { kind: "group", key, name }, group, emails: members };
}

/** Null where no group is asked, so that the statement needn't look. */
export function groupIdsOf(asked: readonly Asked[]): string[] | null {
  const ids = asked.flatMap(({ group }) => (group === null ? [] : [group.id]));
  return ids.length === 0 ? null : [...new Set(ids)];
}
