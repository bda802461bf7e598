// The consequences of PUBLIC_URL for people who open links that begin with it.

/** Whether only this machine can open it. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

/** Of a URL, where IPv6 stands in brackets, or to listen on. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(host);
}

/** Where this machine reaches what listens on `host`. */
export function localUrl(host: string, port: number): string {
  const isHere = ["0.0.0.0", "::", "127.0.0.1"].includes(host);
  const name = host.includes(":") ? `[${host}]` : host;
  return `http://${isHere ? "localhost" : name}:${port}`;
}

/** Says what is wrong with it, and what to do, or null when it is fine. */
export function flawOfPublicUrl(url: string): string | null {
  const { protocol, hostname } = new URL(url);
  // Browsers trust this machine's own names as they trust TLS.
  if (protocol === "https:" || isLoopbackUrl(url) || hostname.endsWith(".localhost")) return null;
  return `links in mails begin with ${url} and are opened unencrypted. Browsers then cannot prove that a decision comes from the review page, so nothing can be decided. Put TLS in front, and set PUBLIC_URL to the https:// address.`;
}

/** Why Slack can't call this service; null if it may be able to. */
export function whySlackCantCall(publicUrl: string): string | null {
  if (publicUrl.startsWith("https://") && !isLoopbackUrl(publicUrl)) return null;
  return `Slack calls only https addresses that it can reach, and PUBLIC_URL is ${publicUrl}`;
}
