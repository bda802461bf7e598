// Everybody's mailbox, and the troubles of mail servers.

import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import type { Mail } from "../evidence.ts";

export type MailTrouble = "none" | "later" | "never" | "cut after data" | "silent";

export const mailPassword = "the-mail-server's-password";

export class Mailbox {
  readonly mails: Mail[] = [];
  #trouble: MailTrouble = "none";
  readonly #onMail: (mail: Mail) => void;
  readonly #server: SMTPServer;

  constructor(onMail: (mail: Mail) => void) {
    this.#onMail = onMail;
    this.#server = new SMTPServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      logger: false,
      onAuth: ({ username, password }, _session, done) => {
        if (password === mailPassword) done(null, { user: username });
        else done(new Error("wrong password"));
      },
      onRcptTo: (_address, _session, done) => {
        if (this.#trouble === "later") done(refusal(451, "come back later"));
        else if (this.#trouble === "never") done(refusal(550, "nobody of that name"));
        else if (this.#trouble !== "silent") done();
      },
      onData: (stream, session, done) => this.#take(stream, session, done),
    });
    this.#server.on("error", () => {});
  }

  set(trouble: MailTrouble): void {
    this.#trouble = trouble;
  }

  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", () => resolve()));
    return (this.#server.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #take(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    done: (error?: Error | null) => void,
  ): void {
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("error", () => {});
    stream.on("end", () => {
      const text = plainTextOf(Buffer.concat(parts).toString());
      const isTaken = this.#trouble === "none";
      for (const { address } of session.envelope.rcptTo) {
        const mail: Mail = { at: Date.now(), to: address, text, isTaken };
        this.mails.push(mail);
        // Also one whose sender will never know that it came.
        this.#onMail(mail);
      }
      if (isTaken) done();
      else if (this.#trouble === "later") done(refusal(451, "come back later"));
      else if (this.#trouble === "never") done(refusal(554, "not wanted"));
      // Otherwise it says nothing more: the sender gives up waiting.
    });
  }
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Headers and text as they were written: lines were folded, and characters encoded. */
function plainTextOf(source: string): string {
  return source
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
