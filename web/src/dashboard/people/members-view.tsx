// The members of this workspace with their roles, and open invitations.

import type { Member, Role } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { When } from "../parts/when.tsx";
import { useCall } from "../service/queries.ts";
import { roleName } from "../session/roles.ts";
import { Answered } from "../states/answered.tsx";
import { ChangeRoleDialog } from "./change-role-dialog.tsx";
import { LeaveWorkspace } from "./leave-workspace.tsx";
import { RemoveMember } from "./remove-member.tsx";
import { RoleList } from "./role-list.tsx";

type MembersViewProps = { workspaceId: string; role: Role };

export function MembersView({ workspaceId, role }: MembersViewProps) {
  const list = useCall("GET /workspaces/:workspaceId/members", { params: { workspaceId } });
  return (
    <Answered query={list} label="Loading the members" lines={8}>
      {({ members }) => (
        <>
          <MemberTable {...{ members, workspaceId, role }} />
          {/* Not before: the members would push it down. */}
          <RoleList />
        </>
      )}
    </Answered>
  );
}

type MemberTableProps = MembersViewProps & { members: readonly Member[] };

function MemberTable({ members, workspaceId, role }: MemberTableProps) {
  return (
    <div className="table-frame">
      <table className="table">
        <caption className="sr-only">Members</caption>
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Role</th>
            <th scope="col">Since</th>
            <th scope="col">
              <span className="sr-only">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.id}>
              <td className="cell-main">
                <span className="in-line">
                  <Visible text={member.email} />
                  {member.isYou && <span className="badge">You</span>}
                </span>
              </td>
              <td className="cell-word" data-label="Role">
                {roleName[member.role]}
              </td>
              <td data-label="Since">
                <Arrival member={member} />
              </td>
              <td className="cell-actions">
                {mayChange(role, member) && (
                  <ChangeRoleDialog workspaceId={workspaceId} member={member} ownRole={role} />
                )}
                {mayChange(role, member) && !member.isYou && (
                  <RemoveMember workspaceId={workspaceId} member={member} />
                )}
                {member.isYou && <LeaveWorkspace />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Arrival({ member }: { member: Member }) {
  if (member.joinedAt === null) {
    return (
      <span className="quiet">
        Invited <When at={member.invitedAt} isRelative />, not joined yet
      </span>
    );
  }
  return (
    <span>
      Joined <When at={member.joinedAt} isRelative />
    </span>
  );
}

/** The service has the last word. This only hides buttons that it would refuse. */
function mayChange(role: Role, member: Member): boolean {
  return role === "owner" || (role === "admin" && member.role !== "owner");
}
