// A mailbox as operators write it for MAIL_FROM: one plain address, with or without a name before it.

import { flawOfEmailAddress } from "./email-address.ts";
import { flawOfName } from "./name.ts";

export type Mailbox = { name: string; address: string };

const withName = /^(?<name>[^<>]*)<(?<address>[^<>]*)>$/;

/** Takes `a@b.example` and `Countersign <a@b.example>`; null for anything else. */
export function parseMailbox(text: string): Mailbox | null {
  const { name = "", address = text } = withName.exec(text.trim())?.groups ?? {};
  const mailbox = { name: unquoted(name.trim()), address: address.trim() };
  const isNamed = mailbox.name !== "";
  if (isNamed && flawOfName(mailbox.name) !== null) return null;
  return flawOfEmailAddress(mailbox.address) === null ? mailbox : null;
}

/** The quotes belong to the notation: "Doe, Ann" <ann@b.example>. */
function unquoted(name: string): string {
  return /^".*"$/s.test(name) ? name.slice(1, -1).replaceAll(/\\(.)/gs, "$1").trim() : name;
}
