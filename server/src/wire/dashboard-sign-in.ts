// How people sign in, as the dashboard is told it: sessions and passkeys.

export type SignInOptions = {
  /** The company's own sign-in, where one is set up: its name, for the button. It begins at GET /app/sign-in/oidc. */
  oidcName: string | null;
  /** There is no mail server: codes are printed in the terminal and shown at /dev/mail. */
  isMailKept: boolean;
};

export type PasskeyQuestion = { challengeId: string; options: unknown };
export type PasskeyAnswer = { challengeId: string; response: unknown };

export type SignInMethod = "code" | "link" | "passkey" | "oidc";

export type Session = {
  id: string;
  isThis: boolean;
  method: SignInMethod;
  /** As the browser named itself. */
  userAgent: string | null;
  address: string | null;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
};

export type Passkey = { id: string; name: string; createdAt: string; lastUsedAt: string | null };
