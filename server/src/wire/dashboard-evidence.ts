// The evidence of decisions and votes, as the dashboard's page of a request gets it.

export type RequestEvidence = {
  email: string;
  /** On whose behalf a delegate voted. */
  for: string | null;
  verdict: "approve" | "reject";
  at: string;
  /** What the vote counts for; 1 where somebody decided alone. */
  revision: number;
  /** The version of the text that stands for everything shown, and its SHA-256 in base64url. */
  shown: { v: number; digest: string };
  /** When the page that decided was opened, and for how long it was open. */
  openedAt: string | null;
  openMs: number | null;
  /** The ways in. */
  amr: readonly ("mail" | "code" | "session" | "passkey" | "slack" | "operator")[];
  address: string | null;
  userAgent: string | null;
  /** The hash in the name of the page's program. */
  page: string | null;
  /** The passkey that signed it. */
  credentialId: string | null;
  isSigned: boolean;
};
