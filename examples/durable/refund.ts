// What is asked, and what is done once it is approved: the same on every engine. Each function is a step that may run
// again after a crash, and does no more then. Amounts are texts, because engines keep what a step gets and answers as
// JSON, which JavaScript rounds.

import { AlreadyRedeemedError, type ApprovalStatus, Countersign } from "@countersign/sdk";

export type Refund = { orderId: string; amount: string };

const { COUNTERSIGN_NOTIFY = "owner@localhost", CALLBACK_URL, PAYMENTS_URL } = process.env;
/** How long a run sleeps before it looks whether a callback was lost. */
export const lookAfter = (process.env.LOOK_AFTER ?? "1 hour") as "1 hour";
const countersign = new Countersign();

/** Asks once for each run: the same key gets the same request. */
export async function ask(
  { orderId, amount }: Refund,
  run: string,
  callbackUrl = CALLBACK_URL,
): Promise<string> {
  const question = {
    summary: `Refund order ${orderId} (${amount} EUR)`,
    payload: { orderId, amount },
    notify: COUNTERSIGN_NOTIFY,
    agentName: "refunds",
    callbackUrl: callbackUrl ?? null,
    // Comes back in the signed callback, and says which run to wake.
    metadata: { run },
  };
  const { id } = await countersign.requests.create(question, { idempotencyKey: `ask ${run}` });
  return id;
}

/** The truth about a request. A callback only says when to look. */
export async function statusOf(id: string): Promise<ApprovalStatus> {
  const { status } = await countersign.requests.get(id);
  return status;
}

/**
 * Pays what was approved, if this execution is the one that may. Answers what became of it. Its name is the engine's own,
 * and never comes again: a run that is started once more under its old id must not use the old approval.
 */
export async function pay(id: string, execution: string): Promise<string> {
  const { effectivePayload } = await countersign.requests.get(id);
  // Before it is redeemed, so that an edit that can't be carried out isn't used up.
  if (!isRefund(effectivePayload)) return "not paid: what was approved is no refund";
  try {
    await countersign.requests.redeem(id, { idempotencyKey: `pay ${execution}` });
  } catch (error) {
    if (error instanceof AlreadyRedeemedError) return `not paid: ${error.message}`;
    throw error;
  }
  const { orderId, amount } = effectivePayload;
  // Pays once for each key: this step may be killed after it has paid, and then it runs again.
  const answer = await fetch(PAYMENTS_URL ?? "", {
    method: "POST",
    headers: { "idempotency-key": id },
    body: JSON.stringify({ orderId, amount }),
  });
  if (!answer.ok) throw new Error(`the payment answered ${answer.status}`);
  return `paid ${amount} EUR of order ${orderId}`;
}

/** An approver can write any JSON. A field that isn't paid by, such as a currency, must not be passed over. */
function isRefund(value: unknown): value is Refund {
  const { orderId, amount, ...others } = (value ?? {}) as Partial<Refund>;
  const isAll = Object.keys(others).length === 0;
  return isAll && typeof orderId === "string" && typeof amount === "string";
}
