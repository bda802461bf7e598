// The signed-in person, and their role in the workspace of the page. The shell provides it, so pages can rely on it.

import { useParams } from "@tanstack/react-router";
import { createContext, useContext } from "react";
import type { Me, Role } from "../../../../server/src/wire/dashboard-contract.ts";

export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === null) throw new Error("There is nobody signed in outside of the shell.");
  return me;
}

export type Membership = {
  workspaceId: string;
  name: string;
  role: Role;
  /** May change things. The service has the last word; a page only hides buttons that it would refuse. */
  canChange: boolean;
};

/** Null outside of a workspace, and in one that this person doesn't belong to. */
export function useMembershipOrNone(): Membership | null {
  const me = useContext(MeContext);
  const { workspaceId } = useParams({ strict: false });
  const found = me?.workspaces.find(({ id }) => id === workspaceId);
  if (found === undefined) return null;
  const { id, name, role } = found;
  return { workspaceId: id, name, role, canChange: role !== "viewer" };
}

/** For the pages below /app/w/$workspaceId. */
export function useMembership(): Membership {
  const membership = useMembershipOrNone();
  if (membership === null) throw new Error("This page needs a workspace.");
  return membership;
}
