// A group of approvers, as the dashboard gets it.

export type Group = {
  id: string;
  key: string;
  name: string;
  members: string[];
  /** Its people never approve without a passkey. */
  requiresSignature: boolean;
  createdAt: string;
};
