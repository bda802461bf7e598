// The address that a browser gave for push messages. It is a stranger's word: any page can name any address.

import { flawOfReceiverUrl } from "../access/receiver-url.ts";
import { pushEndpointCharactersMax } from "./push-limits.ts";

/** Says what is wrong with it, or null when it is fine. Each sending vets the address behind it. */
export function flawOfPushEndpoint(endpoint: string): string | null {
  const flaw = flawOfReceiverUrl(endpoint, pushEndpointCharactersMax);
  if (flaw !== null) return flaw;
  return new URL(endpoint).protocol === "https:" ? null : "must begin with https://";
}
