// The mail checks of `countersign doctor`: whether mail leaves at all, and whether the mail server accepts us.

import { isLoopbackUrl } from "../domain/access/public-url.ts";
import { parseSmtpUrl } from "../domain/mail/smtp-url.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import type { CommandConfig } from "./command.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

const smtpTimeoutMs = 8_000;

const advice: Partial<Record<string, string>> = {
  timed_out: "Check host and port in SMTP_URL; many networks block the ports of mail.",
  connection_failed: "Check host and port in SMTP_URL, and whether a firewall is in between.",
  tls_failed:
    "Its certificate must be valid for that host; a private authority goes into NODE_EXTRA_CA_CERTS. Port 465 wants smtps://, others smtp://.",
  sign_in_failed:
    "Check user name and password in SMTP_URL; write @ : / % in them as %40 %3A %2F %25.",
  deferred: "It serves nobody just now; try again later.",
};

export async function examineMail({
  smtpUrl,
  mailFrom,
  publicUrl,
}: CommandConfig): Promise<Finding> {
  if (smtpUrl === null) return keptMail(publicUrl);
  const server = parseSmtpUrl(smtpUrl);
  if ("flaw" in server) return failed("mail", `SMTP_URL ${server.flaw}`);
  const where = `${server.host}:${server.port}`;
  const { outcome, responseStart } = await signIn(smtpUrl, mailFrom);
  if (outcome !== "delivered") {
    const said = responseStart === null ? "" : ` It said: ${toTerminalText(responseStart.trim())}.`;
    const todo = advice[outcome] ?? "Check SMTP_URL.";
    return failed("mail", `${where}: ${outcome.replaceAll("_", " ")}.${said} ${todo}`);
  }
  const done = server.credentials === null ? "answers" : "answers and lets us sign in";
  const domain = mailFrom.address.slice(mailFrom.address.lastIndexOf("@") + 1);
  return domain.includes(".")
    ? ok("mail", `${where} ${done}; mails come from ${mailFrom.address}`)
    : warning(
        "mail",
        `${where} ${done}, but mails come from ${mailFrom.address}, which others refuse. Set MAIL_FROM.`,
      );
}

/** Loaded on demand: no other command needs the libraries behind it. */
async function signIn(smtpUrl: string, from: CommandConfig["mailFrom"]) {
  const { MailSender } = await import("../outbound/send-mail.ts");
  const ms = smtpTimeoutMs;
  const timeouts = { connectionMs: ms, greetingMs: ms, socketMs: ms, overallMs: ms };
  const sender = new MailSender({ smtpUrl, from, timeouts });
  try {
    return await sender.verify();
  } finally {
    sender.close();
  }
}

function keptMail(publicUrl: string): Finding {
  const howTo = "To send them set SMTP_URL, such as smtps://user:password@smtp.example.";
  const kept = "mails are kept, and shown at /dev/mail to who sits at the server";
  return isLoopbackUrl(publicUrl)
    ? warning("mail", `nothing is sent: ${kept}. ${howTo}`)
    : warning(
        "mail",
        `nothing is sent, so no approver hears of a request at ${publicUrl}: ${kept}. ${howTo}`,
      );
}
