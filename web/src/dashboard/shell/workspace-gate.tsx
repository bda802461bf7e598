// Guards every page of a workspace: only its members see them.

import { Outlet } from "@tanstack/react-router";
import { useMembershipOrNone } from "../session/membership.ts";
import { NotFound } from "./not-found.tsx";

export function WorkspaceGate() {
  const membership = useMembershipOrNone();
  if (membership === null) return <NotFound />;
  // A page keeps nothing of one workspace for another.
  return <Outlet key={membership.workspaceId} />;
}
