// Nothing stands still once the faults are over, people were asked, and no process wrote a secret down.

import type { Evidence, Flaw } from "../evidence.ts";

const stuckAfterMs = 60_000;

export function flawsOfRest(evidence: Evidence): Flaw[] {
  return [...flawsOfStuck(evidence), ...flawsOfMails(evidence), ...flawsOfOutputs(evidence)];
}

function flawsOfStuck({ requests, deliveries, attempts, readAt }: Evidence): Flaw[] {
  const since = readAt - stuckAfterMs;
  const isDue = new Set(deliveries.filter(({ state }) => state === "due").map(({ id }) => id));
  return [
    ...requests
      .filter(({ status, expiresAt }) => status === "PENDING" && expiresAt < since)
      .map(({ id }) => stuck(`${id} is pending after its end`)),
    ...deliveries
      .filter(
        ({ id, dueAt, leasedUntil }) =>
          isDue.has(id) && dueAt < since && (leasedUntil ?? 0) < since,
      )
      .map(({ id }) => stuck(`${id} is due and nobody takes it`)),
    ...attempts
      .filter(({ outcome, startedAt }) => outcome === null && startedAt < since)
      .map(({ deliveryId }) => stuck(`${deliveryId} has an attempt without an end`)),
  ];
}

/** A mail may come twice after a crash. It never comes to anybody else, and what is said to be sent has come. */
function flawsOfMails({ requests, mails, deliveries, events, attempts }: Evidence): Flaw[] {
  const requestOf = new Map(events.map(({ id, requestId }) => [id, requestId]));
  const outcomes = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  const sent = new Map<string, number>();
  for (const { id, eventId, endpointId, state } of deliveries) {
    const isSent =
      state === "delivered" && outcomes.get(id)?.some((each) => each.outcome === "delivered");
    const request = requestOf.get(eventId);
    if (endpointId !== null || !isSent || request === undefined) continue;
    sent.set(request, (sent.get(request) ?? 0) + 1);
  }
  // One mail may be about many requests.
  const about = new Map<string, string[]>();
  for (const { to, text } of mails.filter(({ isTaken }) => isTaken)) {
    for (const tag of tagsOf(text)) about.set(tag, [...(about.get(tag) ?? []), to]);
  }
  return requests.flatMap(({ id, summary, answer }) => {
    const own = about.get([...tagsOf(summary)][0] ?? "") ?? [];
    const { approverEmail } = JSON.parse(answer);
    const strange = own.filter((to) => to !== approverEmail);
    const expected = sent.get(id) ?? 0;
    return [
      ...strange.map((to) => told(`the mail about ${id} went to ${to}`)),
      ...(own.length < expected
        ? [told(`${expected} mails about ${id} were sent, ${own.length} came`)]
        : []),
    ];
  });
}

/** Each request of a run has one in its summary. */
function tagsOf(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(/\btag-[0-9a-f]+-\d+\b/g), ([tag]) => tag));
}

function flawsOfOutputs({ outputs, secrets }: Evidence): Flaw[] {
  return outputs.flatMap(({ process, text }) =>
    secrets
      .filter(({ value }) => value.length >= 8 && text.includes(value))
      .map(({ name }) => ({
        promise: "no secret in any log",
        what: `${process} wrote ${name} down`,
      })),
  );
}

const stuck = (what: string): Flaw => ({
  promise: "nothing is stuck a minute after the faults",
  what,
});
const told = (what: string): Flaw => ({ promise: "people are asked, and nobody else", what });
