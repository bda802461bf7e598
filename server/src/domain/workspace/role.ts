// What the members of a workspace may do: each role may do all that the ones after it may.

export const roles = ["owner", "admin", "viewer"] as const;

export type Role = (typeof roles)[number];

/** Whether somebody in this role may do what asks for at least that one. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) <= roles.indexOf(needed);
}
