// The names of the roles, and the rights of each, in a sentence. The service enforces the rules.

import type { Role } from "../../../../server/src/wire/dashboard-contract.ts";

export const roleName: Record<Role, string> = { owner: "Owner", admin: "Admin", viewer: "Viewer" };

export const roleSentence: Record<Role, string> = {
  owner: "May do everything, decides about owners, and is told by mail when an endpoint fails.",
  admin: "May change keys, endpoints, people, groups and settings, but no owners.",
  viewer: "May look at everything and change nothing.",
};

export const rolesInOrder: readonly Role[] = ["owner", "admin", "viewer"];
