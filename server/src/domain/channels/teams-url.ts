// Which addresses may be a group's place in Teams: those of Workflows webhooks, and nothing that isn't encrypted.

import { flawOfReceiverUrl } from "../access/receiver-url.ts";
import { webhookUrlCharactersMax } from "../limits.ts";

/** The hosts of Office 365 connectors, which Microsoft has retired. They answer, and show nothing. */
const retiredHosts = /(^|\.)(webhook\.office\.com|outlook\.office(365)?\.com)$/;

/** Says what is wrong with it, or null when it is fine. */
export function flawOfTeamsUrl(text: string): string | null {
  const flaw = flawOfReceiverUrl(text, webhookUrlCharactersMax);
  if (flaw !== null) return flaw;
  const { protocol, hostname } = new URL(text);
  if (protocol !== "https:") return "must begin with https://";
  if (retiredHosts.test(hostname)) {
    return "is the address of a connector, and Microsoft has retired those: make a webhook with the Workflows app in Teams";
  }
  return null;
}
