// Hands mails to the mail server. A mail is one message to one recipient. Its bytes are made once, here, so that a
// resent or shown mail is the same to the byte. The outcome is a value: nothing here throws.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { createTransport } from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer";
import { encodeWord } from "nodemailer/lib/mime-funcs";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { formatReviewCode } from "../domain/access/review-code.ts";
import { mailsInFlightMax, mailTimeoutMs } from "../domain/limits.ts";
import type { MailContent } from "../domain/mail/mail.ts";
import { parseSmtpUrl, type SmtpServer } from "../domain/mail/smtp-url.ts";
import type { MailOutcome } from "../domain/shown/attempt.ts";
import { flawOfEmailAddress } from "../domain/workspace/email-address.ts";
import type { Mailbox } from "../domain/workspace/mailbox.ts";
import { answerOfFault, keepable, outcomeOfFault } from "./mail-answer.ts";

export type MailMessage = MailContent & {
  to: string;
  messageId: string;
  /** The message that this one follows, or null. */
  references: string | null;
  date: Date;
  /** The codes in its text, beside each link: they are secret. */
  reviewCodes: readonly string[];
};

export type MailAnswer = {
  outcome: MailOutcome;
  responseStart: string | null;
  durationMs: number;
};

export type MailTimeouts = {
  connectionMs: number;
  greetingMs: number;
  /** The longest silence on an open connection. */
  socketMs: number;
  /** The whole attempt, including the wait for a free lane. */
  overallMs: number;
};

const defaultTimeouts: MailTimeouts = {
  connectionMs: 10_000,
  greetingMs: 10_000,
  socketMs: 20_000,
  overallMs: mailTimeoutMs,
};

const messagesPerConnectionMax = 100;
/** An encoded word has at most 75 characters, and the first line also holds the header's name. */
const encodedWordCharactersMax = 52;

export type MailSenderOptions = {
  /** As parsed by parseSmtpUrl. */
  smtpUrl: string;
  from: Mailbox;
  timeouts?: Partial<MailTimeouts>;
};

type Transport = ReturnType<typeof openTransport>;
/** One kept connection, for one mail at a time, so that giving up on a mail ends only that mail. */
type Lane = { transport: Transport };

export class MailSender {
  readonly #server: SmtpServer;
  readonly #from: Mailbox;
  readonly #timeouts: MailTimeouts;
  readonly #freeLanes: Lane[];
  readonly #lanes: readonly Lane[];
  #waiting: ((lane: Lane) => void)[] = [];
  #isClosed = false;

  constructor({ smtpUrl, from, timeouts = {} }: MailSenderOptions) {
    const server = parseSmtpUrl(smtpUrl);
    assert(
      "host" in server,
      "the address of the mail server was checked when the settings were read",
    );
    this.#server = server;
    this.#from = from;
    this.#timeouts = { ...defaultTimeouts, ...timeouts };
    this.#lanes = Array.from({ length: mailsInFlightMax }, () => ({
      transport: this.#openTransport(),
    }));
    this.#freeLanes = [...this.#lanes];
  }

  async send(message: MailMessage): Promise<MailAnswer> {
    const startMs = performance.now();
    const expiry = startExpiry(this.#timeouts.overallMs);
    try {
      const { outcome, answer } = await this.#attempt(message, expiry);
      const responseStart = keepable(answer, this.#confidential(message));
      return { outcome, responseStart, durationMs: performance.now() - startMs };
    } finally {
      expiry.stop();
    }
  }

  /** Connects, agrees on TLS and signs in, but sends nothing. */
  async verify(): Promise<MailAnswer> {
    const startMs = performance.now();
    const expiry = startExpiry(this.#timeouts.overallMs);
    const connection = new SMTPConnection(connectionOptions(this.#server, this.#timeouts));
    const { outcome, answer } = await outcomeOf(signIn(connection, this.#server), expiry);
    expiry.stop();
    connection.close();
    const responseStart = keepable(answer, this.#confidential(null));
    return { outcome, responseStart, durationMs: performance.now() - startMs };
  }

  /** Gives up mails under way. */
  close(): void {
    this.#isClosed = true;
    for (const { transport } of this.#lanes) transport.close({ force: true });
  }

  async #attempt(message: MailMessage, expiry: Expiry): Promise<Outcome> {
    // The address was checked when it came in. A second check is cheap, and a second recipient would be costly.
    if (flawOfEmailAddress(message.to) !== null) return { outcome: "refused", answer: null };
    const lane = await this.#takeLane(expiry);
    if (lane === null) return { outcome: "timed_out", answer: null };
    const outcome = await outcomeOf(this.#sendThrough(lane, message), expiry);
    if (expiry.isOver && !this.#isClosed) {
      lane.transport.close({ force: true });
      lane.transport = this.#openTransport();
    }
    this.#releaseLane(lane);
    return outcome;
  }

  async #sendThrough({ transport }: Lane, message: MailMessage): Promise<string> {
    const { response } = await transport.sendMail({
      raw: await buildRawMail(message, this.#from),
      envelope: { from: this.#from.address, to: [message.to] },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return response;
  }

  /** Null when time is up before a lane is free. */
  async #takeLane(expiry: Expiry): Promise<Lane | null> {
    const free = this.#freeLanes.pop();
    if (free !== undefined) return free;
    const { promise, resolve } = Promise.withResolvers<Lane>();
    this.#waiting.push(resolve);
    const lane = await Promise.race([promise, expiry.passed]);
    if (lane !== timeIsUp) return lane;
    // Otherwise a lane that was freed in the same moment would be lost for ever.
    if (!this.#waiting.includes(resolve)) this.#releaseLane(await promise);
    this.#waiting = this.#waiting.filter((each) => each !== resolve);
    return null;
  }

  #releaseLane(lane: Lane): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#freeLanes.push(lane);
    else next(lane);
  }

  #openTransport(): Transport {
    return openTransport(this.#server, this.#timeouts);
  }

  #confidential(message: MailMessage | null) {
    const { credentials } = this.#server;
    // A server may name the recipient: operators look for it.
    const words = message === null ? "" : `${message.subject}\n${message.text}`;
    const codes = message?.reviewCodes ?? [];
    return {
      secrets: [
        ...(credentials === null ? [] : formsOfPassword(credentials)),
        // Too short to be found as an echo of the message.
        ...codes.flatMap((code) => [code, formatReviewCode(code)]),
      ],
      message: message === null ? "" : words.replaceAll(message.to, "\n"),
    };
  }
}

/** The exact bytes of a mail. */
export async function buildRawMail(message: MailMessage, from: Mailbox): Promise<Buffer> {
  const { to, subject, text, html, messageId, references, date } = message;
  const following = references === null ? {} : { references, inReplyTo: references };
  return new MailComposer({
    from,
    to: { name: "", address: to },
    subject: withoutEncodedWords(subject),
    text,
    html,
    messageId,
    date,
    ...following,
    // Asks machines not to answer, in the two ways they know.
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    encoding: "quoted-printable",
    newline: "win",
    // Random by default. This one can't occur in the message, because it depends on all of it.
    baseBoundary: hash("sha256", JSON.stringify([messageId, text, html])).slice(0, 32),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
}

/** Text like an encoded word would be decoded by the mail program and could bring back what we made visible. */
function withoutEncodedWords(subject: string): string {
  return subject.includes("=?") ? encodeWord(subject, "Q", encodedWordCharactersMax) : subject;
}

type Outcome = { outcome: MailOutcome; answer: string | null };

async function outcomeOf(response: Promise<string | null>, expiry: Expiry): Promise<Outcome> {
  try {
    const answer = await Promise.race([response, expiry.passed]);
    return answer === timeIsUp
      ? { outcome: "timed_out", answer: null }
      : { outcome: "delivered", answer };
  } catch (fault) {
    return { outcome: outcomeOfFault(fault), answer: answerOfFault(fault) };
  }
}

const timeIsUp = Symbol("time is up");
type Expiry = { passed: Promise<typeof timeIsUp>; readonly isOver: boolean; stop: () => void };

function startExpiry(ms: number): Expiry {
  const { promise, resolve } = Promise.withResolvers<typeof timeIsUp>();
  const state = { isOver: false };
  const timer = setTimeout(() => {
    state.isOver = true;
    resolve(timeIsUp);
  }, ms);
  return {
    passed: promise,
    get isOver() {
      return state.isOver;
    },
    stop: () => clearTimeout(timer),
  };
}

function openTransport(server: SmtpServer, timeouts: MailTimeouts) {
  return createTransport({
    ...connectionOptions(server, timeouts),
    pool: true,
    maxConnections: 1,
    maxMessages: messagesPerConnectionMax,
    // A kept connection may have died since. Nothing of the mail was sent then, so it takes a new one.
    maxRequeues: 1,
  });
}

function connectionOptions({ host, port, tls, credentials }: SmtpServer, timeouts: MailTimeouts) {
  return {
    host,
    port,
    secure: tls === "from_the_start",
    requireTLS: tls === "required",
    ignoreTLS: tls === "never",
    tls: { minVersion: "TLSv1.2", rejectUnauthorized: true } as const,
    ...(credentials === null
      ? {}
      : { auth: { user: credentials.user, pass: credentials.password }, forceAuth: true }),
    connectionTimeout: timeouts.connectionMs,
    dnsTimeout: timeouts.connectionMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.socketMs,
    maxResponseSize: 64 * 1024,
  };
}

function signIn(connection: SMTPConnection, { credentials }: SmtpServer): Promise<string | null> {
  return new Promise((resolve, reject) => {
    connection.on("error", reject);
    connection.once("end", () => reject(new Error("the connection was closed")));
    connection.connect((fault) => {
      if (fault !== undefined && fault !== null) return reject(fault);
      if (credentials === null) return resolve(null);
      const { user, password: pass } = credentials;
      const done = (refusal: unknown) => (refusal ? reject(refusal) : resolve(null));
      connection.login({ user, credentials: { user, pass } }, done);
    });
  });
}

/** The password as typed, and as each way to sign in sends it. */
function formsOfPassword({ user, password }: { user: string; password: string }): string[] {
  const encoded = [password, `\0${user}\0${password}`].map((text) =>
    Buffer.from(text).toString("base64"),
  );
  return [password, encodeURIComponent(password), ...encoded];
}
