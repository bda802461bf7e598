// What the terminal shows once the service is up: where it is, the key, and what to do next.

import { firstOwnerEmail } from "./operations/first-run.ts";

export type WelcomeFacts = {
  address: string;
  /** Shown once, on the very first start. */
  firstKey: string | null;
  /** Signs the owner in, once. */
  signInUrl: string | null;
  kind: "embedded" | "external";
  dataDir: string;
  /** There is no mail server, so mails are shown instead of sent; only to who is at this machine. */
  isMailShown: boolean;
};

export function welcome(facts: WelcomeFacts): string {
  const { address, firstKey, signInUrl, kind, dataDir, isMailShown } = facts;
  const lines = [
    "",
    "  countersign is running",
    "",
    `  Address   ${address}`,
    ...(signInUrl === null ? [] : [`  Dashboard ${signInUrl}   (signs you in, once)`]),
    ...(firstKey === null ? [] : [`  API key   ${firstKey}   (shown this once; keep it)`]),
    ...(kind === "embedded" ? [`  Data      ${dataDir}`] : []),
    ...(isMailShown
      ? [`  Mail      ${address}/dev/mail   (kept there, not sent: no SMTP_URL)`]
      : []),
    "",
    firstKey === null
      ? "  Create a request (put your key into COUNTERSIGN_API_KEY, or make one: npx countersign key create --help):"
      : "  Create your first request; paste this into another terminal:",
    "",
    `  ${curl(address, firstKey ?? "$COUNTERSIGN_API_KEY")}`,
    "",
    `  Documentation: ${address}/docs     Stop: Ctrl-C`,
    "",
    "",
  ];
  return lines.join("\n");
}

function curl(address: string, key: string): string {
  const body = JSON.stringify({
    summary: "Refund order 1042 (49.00 EUR)",
    payload: { orderId: 1042, amount: 49 },
    notify: firstOwnerEmail,
  });
  return `curl ${address}/v1/requests -H "Authorization: Bearer ${key}" -d '${body}'`;
}
