// The text at the terminal once the service is up: the address, the key, and the next steps.

import { firstOwnerEmail } from "./operations/workspaces/first-run.ts";

export type WelcomeFacts = {
  address: string;
  /** Shown once, on the very first start. */
  firstKey: string | null;
  /** Signs the owner in, once. */
  signInUrl: string | null;
  /** There is no workspace, and this start makes none. */
  isEmpty: boolean;
  kind: "embedded" | "external";
  /** Somebody tries it out on this machine. */
  isTrial: boolean;
  dataDir: string;
  /** Without a mail server, mails are shown instead of sent; only to people at this machine. */
  isMailShown: boolean;
};

const firstCommands = [
  'bin/countersign workspace create --name "Acme"',
  "bin/countersign member add --workspace ws_… --email you@example.com --role owner",
  'bin/countersign key create --workspace ws_… --name "My agent"',
  "bin/countersign sign-in-link --email you@example.com",
];

/** For a log, which must hold neither key nor link. */
export const firstSteps = `there is no workspace yet; make one, its owner, a key and a link to sign in with: ${firstCommands.join("; ")}`;

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
    ...nextSteps(facts).map((line) => `  ${line}`),
    "",
    `  Documentation: ${address}/docs     Stop: Ctrl-C`,
    "",
    "",
  ];
  return lines.join("\n");
}

function nextSteps({ isEmpty, firstKey, address, isTrial }: WelcomeFacts): string[] {
  if (isEmpty) {
    return [
      "There is no workspace yet. Make one, its owner, a key, and a link to sign in with:",
      "",
      ...firstCommands,
    ];
  }
  const approver = isTrial ? firstOwnerEmail : "you@example.com";
  return [
    firstKey === null
      ? "Create a request (put your key into COUNTERSIGN_API_KEY, or make one: bin/countersign key create --help):"
      : "Create your first request; paste this into another terminal:",
    "",
    curl(address, firstKey ?? "$COUNTERSIGN_API_KEY", approver),
  ];
}

function curl(address: string, key: string, approver: string): string {
  const body = JSON.stringify({
    summary: "Refund order 1042 (49.00 EUR)",
    payload: { orderId: 1042, amount: 49 },
    notify: approver,
  });
  return `curl ${address}/v1/requests -H "Authorization: Bearer ${key}" -d '${body}'`;
}
