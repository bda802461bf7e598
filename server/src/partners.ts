// The outside services that are set up. None of them is called yet. Their libraries are loaded only if they are set up:
// they are a third of what the service loads.

import type { Logger } from "pino";
import type { Config } from "./config.ts";
import type { OidcClient } from "./domain/access/openid.ts";
import type { MailSender } from "./outbound/send-mail.ts";
import type { Tracing } from "./tracing/open-tracing.ts";

export type Partners = {
  mails: MailSender | null;
  oidc: OidcClient | null;
  /** Null when nobody traces. */
  tracing: Tracing | null;
};

export async function openPartners(config: Config, log: Logger): Promise<Partners> {
  const { role, smtpUrl, mailFrom, oidc, tracing } = config;
  const partners: Partners = { mails: null, oidc: null, tracing: null };
  if (role !== "api" && smtpUrl !== null) {
    const { MailSender } = await import("./outbound/send-mail.ts");
    partners.mails = new MailSender({ smtpUrl, from: mailFrom });
  }
  if (role !== "worker" && oidc !== null) {
    const { openOidcClient } = await import("./outbound/openid.ts");
    partners.oidc = openOidcClient(oidc);
  }
  if (tracing !== null) {
    const { openTracing } = await import("./tracing/open-tracing.ts");
    partners.tracing = openTracing(tracing, log);
  }
  return partners;
}
