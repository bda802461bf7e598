// Who counts as sitting at this machine. Kept mails hold links that decide, so a proxy that passes the whole world on
// from here must not count, nor a web page elsewhere whose name was made to point here.

import { isIP } from "node:net";

export type CallOrigin = {
  /** The address at the other end of the socket. */
  address: string | undefined;
  httpVersion: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
};

const forwardingHeaders = ["forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip"];
const forwardingPrefixes = ["x-forwarded-", "cf-", "fastly-"];

export function isFromThisMachine({ address, httpVersion, headers }: CallOrigin): boolean {
  return (
    address !== undefined &&
    isLoopback(address) &&
    // Some proxies tell nothing of whom they speak for, but speak an older HTTP than any browser or tool.
    httpVersion !== "1.0" &&
    isLocalName(headers.host) &&
    headers["sec-fetch-site"] !== "cross-site" &&
    !Object.keys(headers).some(isForwardingHeader)
  );
}

function isForwardingHeader(name: string): boolean {
  return (
    forwardingHeaders.includes(name) || forwardingPrefixes.some((prefix) => name.startsWith(prefix))
  );
}

function isLocalName(host: string | string[] | undefined): boolean {
  if (typeof host !== "string" || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return hostname === "localhost" || isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, "");
  return plain === "::1" || (isIP(plain) === 4 && plain.startsWith("127."));
}
