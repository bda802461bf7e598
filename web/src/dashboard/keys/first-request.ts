// The command that creates a first request, complete and ready to paste.

/** The command reads the key from here if its text isn't known. */
export const keyVariable = "COUNTERSIGN_API_KEY";

type FirstRequest = {
  /** The base address of the API. */
  apiUrl: string;
  /** Null if its text isn't known (any more): then the shell inserts it. */
  key: string | null;
  /** The approver: the reader themselves, so that they can approve it. */
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

/** Inside single quotes a shell interprets only the closing quote, and an address may hold one. */
function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
