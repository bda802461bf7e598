// Turns a mail server's answer, or a failed connection, into one outcome of the closed list and an excerpt that may be
// kept.

import type { MailOutcome } from "../domain/shown/attempt.ts";

/** The fields we read of nodemailer's errors. All are optional, because nobody promises them. */
type MailFault = {
  code?: unknown;
  /** The code that a system error had before nodemailer gave it its own. */
  originalCode?: unknown;
  responseCode?: unknown;
  command?: unknown;
  response?: unknown;
};

const responseBytesMax = 4096;

// The names that OpenSSL and Node give to broken certificates and handshakes.
const tlsCode =
  /^(?:ERR_SSL_|ERR_TLS_|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH)|CERT|CRL/;

const messageCommands = ["MAIL FROM", "RCPT TO", "DATA"];

export function outcomeOfFault(fault: unknown): MailOutcome {
  const { code, originalCode, responseCode, command, response } = asFault(fault);
  const status = typeof responseCode === "number" ? responseCode : null;
  if (code === "ETIMEDOUT" || originalCode === "ETIMEDOUT") return "timed_out";
  if (code === "ETLS" || isTlsCode(code) || isTlsCode(originalCode)) return "tls_failed";
  if (status !== null && status >= 400 && status < 500) return "deferred";
  if (status === 530 && /STARTTLS/i.test(String(response))) return "tls_failed";
  const isSignIn = code === "EAUTH" || code === "ENOAUTH" || String(command).startsWith("AUTH");
  if (isSignIn || (status !== null && [530, 534, 535, 538].includes(status))) {
    return "sign_in_failed";
  }
  // "Bad sequence of commands" is about the session: on another connection the same message can pass.
  if (status === 503) return "connection_failed";
  const isAboutMessage = code === "EENVELOPE" || code === "EMESSAGE";
  const wasRefused =
    isAboutMessage && (status === null || messageCommands.includes(String(command)));
  return wasRefused ? "refused" : "connection_failed";
}

export function answerOfFault(fault: unknown): string | null {
  const { response } = asFault(fault);
  return typeof response === "string" ? response : null;
}

/** Secrets that an answer must not carry into a log: the password in any form, and the message. */
export type Confidential = { secrets: readonly string[]; message: string };

/** The start of an answer, safe to keep. Servers quote what they refuse, such as a link with its token. */
export function keepable(answer: string | null, { secrets, message }: Confidential): string | null {
  if (answer === null) return null;
  let text = answer.slice(0, 2 * responseBytesMax).replaceAll("\0", "\uFFFD");
  for (const secret of secrets) text = text.replaceAll(secret, "[…]");
  const bytes = Buffer.from(withoutEchoes(text.toWellFormed(), message));
  if (bytes.length <= responseBytesMax) return bytes.toString();
  // A character that was cut in half is dropped.
  return new TextDecoder().decode(bytes.subarray(0, responseBytesMax), { stream: true });
}

/** This many equal characters in a row are no coincidence, and fewer of a review link's 43 give nothing away. */
const echoCharactersMin = 20;

function withoutEchoes(text: string, message: string): string {
  let kept = "";
  for (let at = 0; at < text.length; ) {
    const length = echoLength(text, at, message);
    kept += length === 0 ? text.charAt(at) : "[…]";
    at += Math.max(length, 1);
  }
  return kept;
}

/** How many characters from here on are also in the message; 0 when too few to count. */
function echoLength(text: string, at: number, message: string): number {
  let length = echoCharactersMin;
  if (at + length > text.length || !message.includes(text.slice(at, at + length))) return 0;
  while (at + length < text.length && message.includes(text.slice(at, at + length + 1)))
    length += 1;
  return length;
}

function isTlsCode(code: unknown): boolean {
  return typeof code === "string" && tlsCode.test(code);
}

function asFault(fault: unknown): MailFault {
  return typeof fault === "object" && fault !== null ? fault : {};
}
