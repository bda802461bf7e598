// Decides whether a caller sits at this machine. Kept mails hold links that decide, so a proxy here that serves the
// whole world must not count, nor a foreign web page whose name was made to point here.

import { isIP } from "node:net";

export type CallOrigin = {
  /** The address at the other end of the socket. */
  address: string | undefined;
  httpVersion: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
};

export function isFromThisMachine({ address, httpVersion, headers }: CallOrigin): boolean {
  const { host, origin, referer, "sec-fetch-site": initiator } = headers;
  return (
    address !== undefined &&
    isLoopback(address) &&
    // Some proxies don't say for whom they speak, but use an older HTTP than any browser or tool.
    httpVersion === "1.1" &&
    typeof host === "string" &&
    localHost.test(host) &&
    (initiator === undefined || isOwnBrowser(String(initiator), headers.connection)) &&
    [origin, referer].every((url) => url === undefined || isAt(String(url), host)) &&
    !Object.keys(headers).some(isForwardingHeader)
  );
}

/** Spelled out, because the URL parser reads more into a header than it says. */
const localHost = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i;

/**
 * A browser tells who led it here: the person (none) or our own page. Nobody else has business here. It also asks to
 * keep the connection, which a proxy between us would not pass on.
 */
function isOwnBrowser(initiator: string, connection: string | string[] | undefined): boolean {
  const isOwn = initiator === "none" || initiator === "same-origin";
  return isOwn && /^keep-alive$/i.test(String(connection));
}

/** A page under another name was opened through a proxy that puts our name into Host. */
function isAt(url: string, host: string): boolean {
  return URL.canParse(url) && new URL(url).host === host.toLowerCase();
}

// Headers in which proxies, tunnels and networks name the caller they forward.
const forwardingHeaders = ["forwarded", "via", "x-scheme", "x-varnish", "max-forwards"];
const forwardingPrefixes = `
  cdn- cf- fastly- fly- ngrok- proxy- surrogate- tailscale- x-amz x-appengine- x-arr- x-azure- x-cluster- x-envoy-
  x-forwarded x-nf- x-original- x-proxy x-remote- x-vercel-
`
  .trim()
  .split(/\s+/);
const forwardedAddress =
  /(?:^|-)(?:client|connecting|originating|peer|real|source)-(?:addr|address|ip)$/;

function isForwardingHeader(name: string): boolean {
  return (
    forwardingHeaders.includes(name) ||
    forwardedAddress.test(name) ||
    forwardingPrefixes.some((prefix) => name.startsWith(prefix))
  );
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, "");
  return plain === "::1" || (isIP(plain) === 4 && plain.startsWith("127."));
}
