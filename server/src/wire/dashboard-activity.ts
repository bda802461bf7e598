// The activity of a workspace, as the service tells it to the dashboard.

export type Activity = {
  id: string;
  at: string;
  /** Null when it was done at the command line. */
  actorEmail: string | null;
  action: ActivityAction;
  /** The object of the action, by its name at that time. */
  subject: string;
  /** More, as pairs of words: from, to, reason … */
  detail: Record<string, string>;
};

export type ActivityAction =
  | "key.issued"
  | "key.changed"
  | "key.revoked"
  | "endpoint.added"
  | "endpoint.changed"
  | "endpoint.enabled"
  | "endpoint.disabled"
  | "endpoint.rotated"
  | "endpoint.deleted"
  | "endpoint.tested"
  | "callback_secret.shown"
  | "callback_secret.rotated"
  | "deliveries.resent"
  | "group.created"
  | "group.renamed"
  | "group.changed"
  | "group.member_added"
  | "group.member_removed"
  | "group.deleted"
  | "group.teams_set"
  | "group.teams_removed"
  | "group.slack_channel_set"
  | "group.slack_channel_removed"
  | "slack.connected"
  | "slack.disconnected"
  | "slack.changed"
  | "group.mail_delay_changed"
  | "member.invited"
  | "member.joined"
  | "member.declined"
  | "member.added"
  | "member.role_changed"
  | "member.removed"
  | "absence.set"
  | "absence.changed"
  | "absence.ended"
  | "settings.changed"
  | "workspace.created"
  | "request.withdrawn"
  | "requests.cancelled"
  | "request.mailed_again"
  | "request.reminded"
  | "requests.exported"
  | "log.exported";
