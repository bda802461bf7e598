// The line that creates a first request with a new key: complete, so that it runs as it is pasted.

type FirstRequest = {
  /** What requests are created at. */
  apiUrl: string;
  key: string;
  /** Who is asked: whoever made the key, so that they can approve it themselves. */
  notify: string;
};

export function curlOfFirstRequest({ apiUrl, key, notify }: FirstRequest): string {
  const body = JSON.stringify({
    summary: "Refund order 1042 (49.00 EUR)",
    payload: { orderId: 1042, amount: 49 },
    notify,
  });
  return [
    `curl ${inShell(requestsUrl(apiUrl))}`,
    `  -H ${inShell(`Authorization: Bearer ${key}`)}`,
    `  -H ${inShell("Content-Type: application/json")}`,
    `  -d ${inShell(body)}`,
  ].join(" \\\n");
}

function requestsUrl(apiUrl: string): string {
  const base = apiUrl.replace(/\/+$/, "").replace(/\/v1(?:\/requests)?$/, "");
  return `${base}/v1/requests`;
}

/** In single quotes a shell reads nothing but the closing one, and an address may hold one. */
function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
