// People are asked, and nobody else.

import type { Evidence, Flaw, Mail } from "../evidence.ts";

/** A mail may come twice after a crash. It never comes to anybody else, and what is said to be sent has come. */
export function flawsOfMails({ requests, mails, deliveries, events, attempts }: Evidence): Flaw[] {
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
  const createdOf = new Map(
    events
      .filter(({ kind }) => kind === "request.created")
      .map((each) => [each.id, each.requestId]),
  );
  const isAsked = new Set(
    deliveries
      .filter(({ endpointId }) => endpointId === null)
      .map((each) => createdOf.get(each.eventId)),
  );
  // One mail may be about many requests.
  const about = new Map<string, Mail[]>();
  for (const mail of mails) {
    for (const tag of tagsOf(mail.text)) about.set(tag, [...(about.get(tag) ?? []), mail]);
  }
  const known = new Set(requests.flatMap(({ summary }) => [...tagsOf(summary)]));
  const strays = [...about.keys()].filter((tag) => !known.has(tag));
  return [
    ...strays.map((tag) => told(`a mail is about ${tag}, and there is no such request`)),
    ...requests.flatMap(({ id, summary, answer }) => {
      const own = about.get([...tagsOf(summary)][0] ?? "") ?? [];
      const { approverEmail } = JSON.parse(answer);
      const strange = own.filter(({ to }) => to !== approverEmail);
      const came = own.filter(({ isTaken }) => isTaken).length;
      const expected = sent.get(id) ?? 0;
      return [
        ...strange.map(({ to }) => told(`the mail about ${id} went to ${to}`)),
        ...(came < expected ? [told(`${expected} mails about ${id} were sent, ${came} came`)] : []),
        ...(isAsked.has(id) ? [] : [told(`nobody was to be asked about ${id}`)]),
      ];
    }),
  ];
}

/** Each request of a run has one in its summary. */
function tagsOf(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(/\btag-[0-9a-f]+-\d+\b/g), ([tag]) => tag));
}

const told = (what: string): Flaw => ({ promise: "people are asked, and nobody else", what });
