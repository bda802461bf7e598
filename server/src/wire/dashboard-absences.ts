// Absences on the dashboard: a person's own, and those of everybody in a workspace.

export type Absence = {
  id: string;
  workspaceId: string;
  email: string;
  /** Who is asked instead. */
  delegateEmail: string;
  /** Only if that person left the workspace and its groups: then nobody is asked instead. */
  isDelegateGone?: true;
  /** Only if the workspace's limit of domains excludes that person: then nobody is asked instead any more. */
  isDelegateNotAllowed?: true;
  startsAt: string;
  endsAt: string;
  /** From then on only its end can be changed. */
  hasBegun: boolean;
};

export type NewAbsence = { delegateEmail: string; startsAt: string; endsAt: string };
