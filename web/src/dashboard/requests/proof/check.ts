// One line of a check: what was looked at, and what came out. Something that can't be checked is never told as right.

import { ShapeError } from "../../../../../sdk/src/proof/members.ts";
import { ReceiptError } from "../../../../../sdk/src/proof/receipt-flaw.ts";
import type { RequestDetail } from "../../../../../server/src/wire/dashboard-contract.ts";
import type { RequestProof } from "../../../../../server/src/wire/dashboard-proof.ts";

/** `open`: it could not be checked, and `detail` says why. */
export type Outcome = { state: "right" | "wrong" | "open"; detail: string };
export type Check = Outcome & { title: string };

/** Everything that a check looks at: what the page shows, and what it was sent as proof of it. */
export type Given = {
  workspaceId: string;
  /** The address of this page's service. */
  issuer: string;
  nowMs: number;
  request: Pick<RequestDetail, "id" | "status" | "payload" | "edit" | "resolvedAt" | "evidence">;
  proof: RequestProof;
};

export const right = (detail: string): Outcome => ({ state: "right", detail });
export const wrong = (detail: string): Outcome => ({ state: "wrong", detail });
export const open = (detail: string): Outcome => ({ state: "open", detail });

/** What can't be read is wrong: the service sends nothing that can't. */
export async function check(title: string, work: () => Outcome | Promise<Outcome>): Promise<Check> {
  try {
    return { title, ...(await work()) };
  } catch (error) {
    if (error instanceof ReceiptError || error instanceof ShapeError) {
      return { title, ...wrong(sentence(error.message)) };
    }
    if ((error as { code?: unknown }).code === "runtime_without_ed25519") {
      return { title, ...open("This browser can’t check Ed25519 signatures. Use a newer one.") };
    }
    const why = error instanceof Error ? error.message : String(error);
    return { title, ...wrong(`It can’t be read: ${why}.`) };
  }
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

/** The first names whose values differ, with both values: "edited: false here, true there". */
export function differences(
  pairs: Record<string, readonly [here: unknown, there: unknown]>,
): string[] {
  return Object.entries(pairs)
    .filter(([, [here, there]]) => JSON.stringify(here) !== JSON.stringify(there))
    .map(([name, [here, there]]) => `${name}: ${told(here)} here, ${told(there)} there`);
}

function told(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}
