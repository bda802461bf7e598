// What can be done in a workspace that its members want to read up later.

export const activityActions = [
  "workspace.created",
  "settings.changed",
  "key.issued",
  "key.revoked",
  "endpoint.added",
  "endpoint.changed",
  "endpoint.enabled",
  "endpoint.disabled",
  "endpoint.rotated",
  "endpoint.tested",
  "deliveries.resent",
  "group.created",
  "group.renamed",
  "group.member_added",
  "group.member_removed",
  "member.invited",
  "member.joined",
  "member.declined",
  "member.added",
  "member.role_changed",
  "member.removed",
  "request.withdrawn",
  "request.mailed_again",
] as const;

export type ActivityAction = (typeof activityActions)[number];

/** The address of whoever does it; null is the operator at the command line. */
export type Actor = string | null;

/** A member who changes something. What has an id in another workspace is as unknown to them as what nothing has. */
export type MemberDoer = { actor: string; workspaceId: string };

/** At the command line every workspace is in reach. */
export const operator = { actor: null, workspaceId: null } as const;

/** Who changes something. */
export type Doer = MemberDoer | typeof operator;

/** A change in the detail of an entry. */
export function fromTo(from: string, to: string): string {
  return `from ${from} to ${to}`;
}
