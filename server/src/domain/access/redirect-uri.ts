// The addresses that the answer to a client may go to. A code there is worth a token, so an address is taken only if
// every program reads it alike and a person can see where it leads.

import { oauthRedirectUriCharactersMax } from "../limits.ts";
import { isWithinCidrs, loopbackCidrs, plainAddress } from "./network-address.ts";

const loopbackHosts = ["localhost", "127.0.0.1", "[::1]"];

/** The names of an answer. If the address had them already, the client might read a stranger's instead. */
const answerNames = ["code", "state", "iss", "error", "error_description"];

/** Only an address that every reader reads alike: written as the standard writes it, to the letter. */
export function mayRedirectTo(uri: unknown): uri is string {
  if (typeof uri !== "string" || uri.length > oauthRedirectUriCharactersMax) return false;
  if (!URL.canParse(uri)) return false;
  const url = new URL(uri);
  if (url.href !== uri && url.href !== `${uri}/`) return false;
  if (url.username !== "" || url.password !== "" || uri.includes("#")) return false;
  if (answerNames.some((name) => url.searchParams.has(name))) return false;
  return url.protocol === "https:" || isLoopback(url);
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && loopbackHosts.includes(hostname);
}

/**
 * Whether it leads to this service: an answer there would end in our own pages and logs. Of a name that is ours every
 * port is. On this machine other programs listen, so only our own port is, by whatever name.
 */
export function isOwnAddress(uri: string, publicUrl: string): boolean {
  const [there, here] = [new URL(uri), new URL(publicUrl)];
  if (isThisMachine(here)) return isThisMachine(there) && portOf(there) === portOf(here);
  return plainHostOf(there) === plainHostOf(here);
}

/** Whether it leads to the reader's own computer. */
export function isHere(uri: string): boolean {
  return isThisMachine(new URL(uri));
}

function isThisMachine(url: URL): boolean {
  const host = plainHostOf(url);
  const isName = host === "localhost" || host.endsWith(".localhost");
  return isName || host === "0.0.0.0" || host === "::" || isWithinCidrs(host, loopbackCidrs);
}

/** One spelling for each host. The URL standard leaves a dot at the end, and IPv4 inside of IPv6. */
function plainHostOf({ hostname }: URL): string {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return plainAddress(bare) ?? bare;
}

function portOf({ port, protocol }: URL): string {
  return port !== "" ? port : protocol === "https:" ? "443" : "80";
}

/** Exactly one that was registered. A program on somebody's own machine may listen at another port (RFC 8252). */
export function isRegisteredRedirect(redirectUris: readonly string[], uri: string): boolean {
  if (!mayRedirectTo(uri)) return false;
  if (redirectUris.includes(uri)) return true;
  if (!isLoopback(new URL(uri))) return false;
  return redirectUris.some((each) => withoutPort(each) === withoutPort(uri));
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = "";
  return url.href;
}

/** The host, or a name of the person's own machine. */
export function redirectHostOf(uri: string): string {
  const url = new URL(uri);
  return isLoopback(url) ? url.hostname : url.host;
}

/** The registered address stays as it is, and the answer follows it. */
export function redirectWith(uri: string, answer: Record<string, string | null>): string {
  const given = Object.entries(answer).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as [string, string]],
  );
  return `${uri}${uri.includes("?") ? "&" : "?"}${new URLSearchParams(given)}`;
}
