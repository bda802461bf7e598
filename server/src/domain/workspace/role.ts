// The roles of members. Each role may do everything that the later ones may.

export const roles = ["owner", "admin", "viewer"] as const;

export type Role = (typeof roles)[number];

/** Whether this role is at least that one. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) <= roles.indexOf(needed);
}
