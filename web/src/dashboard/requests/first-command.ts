// The command that creates a first request, ready for a shell in which the key is a variable.

type FirstCommand = {
  /** What requests are created at. */
  apiUrl: string;
  /** Who is asked: whoever reads this, so that they can approve it themselves. */
  notify: string;
};

export function firstCommand({ apiUrl, notify }: FirstCommand): string {
  const body = JSON.stringify({
    summary: "Refund order 1042 (49.00 EUR)",
    payload: { orderId: 1042, amount: 49 },
    notify,
  });
  return [
    `curl ${quoted(requestsUrl(apiUrl))}`,
    // In double quotes, so that the shell puts the key in.
    '  -H "Authorization: Bearer $COUNTERSIGN_API_KEY"',
    `  -H ${quoted("Content-Type: application/json")}`,
    `  -d ${quoted(body)}`,
  ].join(" \\\n");
}

function requestsUrl(apiUrl: string): string {
  const base = apiUrl.replace(/\/+$/, "").replace(/\/v1(?:\/requests)?$/, "");
  return `${base}/v1/requests`;
}

/** In single quotes a shell reads nothing but the closing one, and an address may hold one. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
