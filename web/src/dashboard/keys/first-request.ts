// The line that creates a first request: complete, so that it runs as it is pasted.

/** Where the line takes the key from when its text is not known. */
export const keyVariable = "COUNTERSIGN_API_KEY";

type FirstRequest = {
  /** What requests are created at. */
  apiUrl: string;
  /** Null when its text is not known (any more): then the shell puts it in. */
  key: string | null;
  /** Who is asked: whoever reads this, so that they can approve it themselves. */
  notify: string;
};

export function curlOfFirstRequest({ apiUrl, key, notify }: FirstRequest): string {
  const body = JSON.stringify({
    summary: "Refund order 1042 (49.00 EUR)",
    payload: { orderId: 1042, amount: 49 },
    notify,
  });
  const authorization =
    key === null
      ? `"Authorization: Bearer $${keyVariable}"`
      : inShell(`Authorization: Bearer ${key}`);
  return [
    `curl ${inShell(`${apiUrl}/v1/requests`)}`,
    `  -H ${authorization}`,
    `  -H ${inShell("Content-Type: application/json")}`,
    `  -d ${inShell(body)}`,
  ].join(" \\\n");
}

/** In single quotes a shell reads nothing but the closing one, and an address may hold one. */
function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
