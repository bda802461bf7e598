// What stands against a removal, and what a removed member could still decide: for their groups, unless they leave those, too, and what they were asked by
// address.

import { Link } from "@tanstack/react-router";
import type { MemberRemoval } from "../../../../server/src/wire/dashboard-removals.ts";
import { describeCount } from "../../look/shares.ts";
import { Visible } from "../../look/visible-text.tsx";
import { CheckField } from "../forms/field.tsx";

type RemovalChoiceProps = {
  workspaceId: string;
  email: string;
  removal: MemberRemoval;
  isChosen: boolean;
  onChoose: (isWanted: boolean) => void;
};

export function RemovalChoice(props: RemovalChoiceProps) {
  const { workspaceId, email, removal, isChosen, onChoose } = props;
  const { groups, pending, defaultOf } = removal;
  const emptied = groups.filter(({ isOnlyMember }) => isOnlyMember);
  return (
    <div className="removal">
      <DefaultNote {...{ workspaceId, defaultOf }} />
      {groups.length > 0 && (
        <CheckField
          label={
            groups.length === 1
              ? "Also remove them from their approver group"
              : `Also remove them from their ${groups.length} approver groups`
          }
          hint={
            <>
              <Names groups={groups} />.{" "}
              {isChosen
                ? "Their links to requests of these groups stop working at once."
                : "They keep deciding for these groups."}
            </>
          }
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      )}
      {isChosen && emptied.length > 0 && (
        <p className="attention-note">
          Nobody else is in <Names groups={emptied} />. Pending requests to it can’t be decided any
          more, and new ones are refused with <code>empty_group</code>.
        </p>
      )}
      {pending.count > 0 && (
        <p className="attention-note">
          {describeCount(pending.count)}
          {pending.isMore && " or more"} pending{" "}
          {pending.count === 1 ? "request was" : "requests were"} asked of their address alone, and
          they can still decide.{" "}
          <Link
            to="/app/w/$workspaceId/requests"
            params={{ workspaceId }}
            search={{ status: "PENDING", approver: email }}
          >
            See and cancel them
          </Link>
        </p>
      )}
    </div>
  );
}

function Names({ groups }: { groups: { id: string; name: string }[] }) {
  return groups.map(({ id, name }, at) => (
    <span key={id}>
      {at > 0 && ", "}
      <Visible text={name} />
    </span>
  ));
}

type DefaultNoteProps = { workspaceId: string } & Pick<MemberRemoval, "defaultOf">;

function DefaultNote({ workspaceId, defaultOf: { isOfWorkspace, keys } }: DefaultNoteProps) {
  if (!isOfWorkspace && keys.length === 0) return null;
  return (
    <p className="attention-note">
      They are the default approver of{" "}
      {isOfWorkspace && (
        <Link to="/app/w/$workspaceId/settings" params={{ workspaceId }}>
          this workspace
        </Link>
      )}
      {isOfWorkspace && keys.length > 0 && " and of "}
      {keys.length > 0 && (
        <Link to="/app/w/$workspaceId/keys" params={{ workspaceId }}>
          {keys.length === 1 ? "the key" : "the keys"} <Names groups={keys} />
        </Link>
      )}
      . Choose another one there first.
    </p>
  );
}
