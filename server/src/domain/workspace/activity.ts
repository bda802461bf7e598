// The actions in a workspace that its members may want to look up later.

export const activityActions = [
  "workspace.created",
  "settings.changed",
  "key.issued",
  "key.changed",
  "key.revoked",
  "endpoint.added",
  "endpoint.changed",
  "endpoint.enabled",
  "endpoint.disabled",
  "endpoint.rotated",
  "endpoint.deleted",
  "endpoint.tested",
  "callback_secret.shown",
  "callback_secret.rotated",
  "deliveries.resent",
  "group.created",
  "group.renamed",
  "group.changed",
  "group.member_added",
  "group.member_removed",
  "group.deleted",
  "group.teams_set",
  "group.teams_removed",
  "group.slack_channel_set",
  "group.slack_channel_removed",
  "group.mail_delay_changed",
  "slack.connected",
  "slack.disconnected",
  "slack.changed",
  "member.invited",
  "member.joined",
  "member.declined",
  "member.added",
  "member.role_changed",
  "member.removed",
  "absence.set",
  "absence.changed",
  "absence.ended",
  "request.withdrawn",
  "requests.cancelled",
  "request.mailed_again",
  "request.reminded",
  "requests.exported",
  "log.exported",
] as const;

export type ActivityAction = (typeof activityActions)[number];

/** The address of the person who acts; null is the operator at the command line. */
export type Actor = string | null;

/** A member who changes something. Ids of another workspace are as unknown to them as ids of nothing. */
export type MemberDoer = { actor: string; workspaceId: string };

/** The operator at the command line reaches every workspace. */
export const operator = { actor: null, workspaceId: null } as const;

/** The person who changes something: a member, or the operator. */
export type Doer = MemberDoer | typeof operator;

/** The texts that differ, each with what it was and is. */
export function differences(
  before: Record<string, string>,
  after: Record<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, is]) => ({ name, is, was: before[name] ?? "" }))
      .filter(({ is, was }) => is !== was)
      .map(({ name, is, was }) => [name, fromTo(was, is)]),
  );
}

/** A change in the detail of an entry. */
export function fromTo(from: string, to: string): string {
  return `from ${from} to ${to}`;
}
