// The rule for one plain e-mail address: no display name, no list, no quotes, no controls.

import { emailCharactersMax } from "../shown/field-limits.ts";

// The grammar of the HTML standard's e-mail input: what mail servers accept, without comments, quoted strings and
// address literals. International domains are written in their xn-- form.
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const domainLabel = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const localPartCharactersMax = 64;

/** Says what is wrong with an address, or null when it is one plain address. */
export function flawOfEmailAddress(address: string): string | null {
  if (address.length > emailCharactersMax) {
    return `must be at most ${emailCharactersMax} characters, but has ${address.length}`;
  }
  const at = address.lastIndexOf("@");
  const local = address.slice(0, Math.max(at, 0));
  const isPlain =
    localPart.test(local) &&
    local.length <= localPartCharactersMax &&
    isDomainName(address.slice(at + 1));
  return isPlain
    ? null
    : "must be one plain e-mail address such as ann@example.com, without a name, quotes, spaces or a second address";
}

/** Whether a text may stand after the @ of an address. */
export function isDomainName(text: string): boolean {
  return text.split(".").every((label) => domainLabel.test(label));
}

/** A normal form: two spellings of one mailbox are the same in it. */
export function normaliseEmailAddress(address: string): string {
  return address.toLowerCase();
}

/**
 * One person, however their address is spelled: ann+agent@x.example reaches ann@x.example. Whoever counts people, or
 * leaves one out, goes by this; mails go to the address. The database's person_of says the same.
 */
export function personOf(address: string): string {
  return normaliseEmailAddress(address).replace(/^([^+@]+)\+[^@]*@/, "$1@");
}

/** Whether two spellings surely lead to one mailbox: some servers distinguish case before the @, none after it. */
export function isSameSpelling(one: string, other: string): boolean {
  return exactForm(one) === exactForm(other);
}

function exactForm(address: string): string {
  const at = address.lastIndexOf("@");
  return address.slice(0, at) + address.slice(at).toLowerCase();
}
