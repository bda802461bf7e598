// One group: its key for agents, and its members.

import { useId } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { Visible } from "../../look/visible-text.tsx";
import { GroupChannels } from "../channels/group-channels.tsx";
import { CopyBox } from "../forms/copy-box.tsx";
import { AddGroupMember } from "./add-group-member.tsx";
import { DeleteGroup } from "./delete-group.tsx";
import { GroupSignature } from "./group-signature.tsx";
import { RemoveGroupMember } from "./remove-group-member.tsx";
import { RenameGroupDialog } from "./rename-group-dialog.tsx";

type GroupCardProps = {
  workspaceId: string;
  group: Group;
  /** May rename it and add members: that needs a plan with groups. */
  canExtend: boolean;
  /** May remove members and the group itself, which every plan allows. */
  canRemove: boolean;
};

export function GroupCard({ workspaceId, group, canExtend, canRemove }: GroupCardProps) {
  const titleId = useId();
  return (
    <section className="panel group" aria-labelledby={titleId}>
      <div className="section-head">
        <h2 id={titleId}>
          <Visible text={group.name} />
        </h2>
        <div className="in-line">
          {canExtend && <RenameGroupDialog workspaceId={workspaceId} group={group} />}
          {canRemove && <DeleteGroup workspaceId={workspaceId} group={group} />}
        </div>
      </div>
      <CopyBox label="Agents ask this group with" text={`"notify": "group:${group.key}"`} />
      {group.members.length === 0 ? (
        <p className="attention-note">
          Nobody is in this group, so requests to it are refused with <code>empty_group</code>.
        </p>
      ) : (
        <ul className="group-people" aria-label={`Members of ${toVisibleText(group.name)}`}>
          {group.members.map((email) => (
            <li key={email}>
              <Visible text={email} />
              {canRemove && (
                <RemoveGroupMember workspaceId={workspaceId} group={group} email={email} />
              )}
            </li>
          ))}
        </ul>
      )}
      {canExtend && <AddGroupMember workspaceId={workspaceId} group={group} />}
      <GroupSignature group={group} canExtend={canExtend} />
      <GroupChannels workspaceId={workspaceId} group={group} canChange={canExtend} />
    </section>
  );
}
