// Named points at which a process kills itself: between what PostgreSQL did and what the process does with it.

/** The statement's name, or how it begins. `committed` is when the next commit of the same connection is answered. */
export type Point = {
  name: string;
  role: "api" | "worker";
  statement: string;
  when: "sending" | "answered" | "committed";
};

export const points: readonly Point[] = [
  at("api", "a create is stored, its caller doesn't know", "approvals.insertMany.", "answered"),
  at("api", "a decision is about to be stored", "approvals.resolve", "sending"),
  at("api", "a decision is stored, its person doesn't know", "approvals.resolve", "answered"),
  at("worker", "a webhook is claimed, not sent", "dueWebhooks.claim", "answered"),
  at("worker", "a webhook is answered, not recorded", "deliveries.completeAttempts", "sending"),
  at("worker", "an attempt is recorded", "deliveries.completeAttempts", "answered"),
  at("worker", "a mail is claimed, not sent", "dueMails.claim", "answered"),
  at("worker", "requests are expired, not committed", "approvals.expire", "answered"),
  at("worker", "requests are expired and committed", "approvals.expire", "committed"),
  at("worker", "a log has grown, not committed", "logTrees.growMany", "answered"),
  at("worker", "a log has grown, its head not signed", "logTrees.growMany", "committed"),
  at("worker", "a head is signed, not kept", "logCheckpoints.insertMany", "sending"),
  at("worker", "a receipt is signed, not kept", "receipts.insertMany", "sending"),
];

function at(role: Point["role"], name: string, statement: string, when: Point["when"]): Point {
  return { role, name, statement, when };
}
