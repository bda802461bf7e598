// A mail, ready to be sent, and what it is made with.

import type { Keyring } from "../../domain/access/keyring.ts";
import type { MailContent } from "../../domain/mail/mail.ts";

export type ComposedMail = MailContent & {
  to: string;
  messageId: string;
  /** The message that this one follows. */
  references: string | null;
  date: Date;
  /** The page where its reader decides; null in a notice, and in a digest, which has many. */
  reviewUrl: string | null;
  /** The code that they type there; null when the link alone is enough, and in a notice. */
  reviewCode: string | null;
  /** All codes in it, which no log may show. */
  reviewCodes: readonly string[];
};

export type MailOrigin = { keyring: Keyring; publicUrl: string };
