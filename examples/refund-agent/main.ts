// A refund agent that pauses until a person has approved, and continues where it was after being killed.
//
//   COUNTERSIGN_API_KEY=cs_… npx node examples/refund-agent/main.ts
//
// Ends with 0 when the refund was paid, 1 when it was rejected, 2 when nobody decided in time or it was cancelled, and 3
// when something is wrong. Kill it while it waits, run it again, and it waits for the same request. However often it is
// run or killed, it pays at most once.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
// In your own project: from "@countersign/sdk"
import {
  AlreadyRedeemedError,
  ApprovalCancelledError,
  ApprovalExpiredError,
  ApprovalRejectedError,
  Countersign,
  InexactPayloadError,
} from "../../sdk/src/index.ts";

type Refund = { orderId: number; amount: number };
/** The state that survives the process. */
type Kept = { run: string; refund: Refund; requestId: string | null };

class UnusableEdit extends Error {}

const keptPath =
  process.env.REFUND_AGENT_FILE ?? join(import.meta.dirname, "refund-in-progress.json");
const approver = process.env.COUNTERSIGN_NOTIFY ?? "owner@localhost";

process.exitCode = await main().catch((error: Error) => {
  say(`Something is wrong: ${error.message}`);
  return 3;
});

async function main(): Promise<number> {
  const countersign = new Countersign();
  const refund = countersign.requireApproval(
    // The approver may have changed the amount: use the one that comes back.
    async (payload: Refund, { id }) => pay(payload, id),
    ({ orderId, amount }) => ({
      summary: `Refund order ${orderId} (${amount.toFixed(2)} EUR)`,
      notify: approver,
      agentName: "refund-agent",
      reasoning: "The parcel was returned, and the customer asked for their money.",
    }),
    { validate },
  );

  const kept = readKept();
  keep(kept);
  let { requestId } = kept;
  if (requestId === null) {
    // The run's name makes asking safe to repeat: a run that was killed before noting the id asks again and gets the
    // same request.
    const request = await refund.ask(kept.refund, { idempotencyKey: `refund-agent-${kept.run}` });
    requestId = request.id;
    keep({ ...kept, requestId });
    say(`Asked ${approver} about ${requestId}: "${request.summary}"`);
  } else {
    say(`Going on with ${requestId}, which an earlier run of this agent asked for.`);
  }
  say(`Waiting for the decision. Open the review link in ${serviceUrl()}/dev/mail`);
  const code = await refund.resume(requestId).then(() => 0, codeOf);
  // Errors are thrown before this and leave the file, so that the next run continues.
  rmSync(keptPath);
  return code;
}

/** The exit code when the refund did not run; throws anything that isn't an outcome. */
function codeOf(error: Error): number {
  if (error instanceof ApprovalRejectedError) {
    say(`Rejected, nothing was paid. ${error.request.resolutionNote ?? ""}`.trimEnd());
    return 1;
  }
  if (error instanceof ApprovalExpiredError || error instanceof ApprovalCancelledError) {
    say(`Not decided, nothing was paid: ${error.message}`);
    return 2;
  }
  if (error instanceof AlreadyRedeemedError) {
    say(`Not paid again: ${error.message}`);
    return 3;
  }
  if (error instanceof UnusableEdit || error instanceof InexactPayloadError) {
    say("Approved with changes that are no refund, nothing was paid.");
    return 3;
  }
  throw error;
}

/** Stands for a payment provider: paid twice with the same key, it pays once. */
function pay({ orderId, amount }: Refund, paymentKey: string): void {
  say(
    `Approved. Refunding ${amount.toFixed(2)} EUR for order ${orderId} (payment key ${paymentKey})`,
  );
}

/** An approver can write anything into the payload. */
function validate(payload: unknown): Refund {
  const { orderId, amount } = (payload ?? {}) as Partial<Refund>;
  if (typeof orderId === "number" && typeof amount === "number" && amount > 0) {
    return { orderId, amount };
  }
  throw new UnusableEdit();
}

function readKept(): Kept {
  if (existsSync(keptPath)) return JSON.parse(readFileSync(keptPath, "utf8"));
  return { run: crypto.randomUUID(), refund: { orderId: 1042, amount: 49 }, requestId: null };
}

/** In one step, so that a kill never leaves half a file. */
function keep(kept: Kept): void {
  writeFileSync(`${keptPath}.new`, JSON.stringify(kept));
  renameSync(`${keptPath}.new`, keptPath);
}

function serviceUrl(): string {
  return process.env.COUNTERSIGN_BASE_URL ?? "http://localhost:3000";
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
