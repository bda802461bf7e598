// API keys on the dashboard, and the MCP clients that act as one. A client's question stands in the address of the page
// that asks a person, and the service reads it.

export type ApiKey = {
  id: string;
  name: string;
  lastFour: string;
  createdAt: string;
  /** To the minute; null when it was never used. */
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** Asked in place of the workspace's default approver; null goes by the workspace. */
  defaultApprover: string | null;
  /** The person behind the agent, who never approves what is created with it; null is nobody. */
  owner: string | null;
  /** The client that was connected with it, instead of a key that somebody could paste. */
  connection?: ConnectedApp;
};

/** `redirectUri` is the whole address that its answer went to, null for apps from before it was kept. */
export type ConnectedApp = { email: string; redirectHost: string; redirectUri: string | null };

/** The key that created a request, as people know it. */
export type AskingKey = {
  id: string;
  name: string;
  lastFour: string;
  isRevoked: boolean;
  owner: string | null;
  /** The person who connected the app that acts as this key. */
  connectedBy?: string;
};

/** The key itself is shown this once. */
export type IssuedKey = ApiKey & { key: string };

/** A client that wants to be connected. `redirectTo` answers one whose question is bad, at its own address. */
export type AskedConnection =
  | {
      kind: "question";
      /** As the client calls itself. */
      clientName: string;
      /** The whole address that its answer goes to. */
      redirectUri: string;
      /** Whether that is the reader's own machine. */
      isHere: boolean;
      /** Says no to the client. */
      refuseTo: string;
    }
  | { kind: "told"; redirectUri: string; redirectTo: string };
