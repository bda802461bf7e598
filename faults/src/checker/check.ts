// All promises at once. No answer is a clean run; a run that left nothing to judge is no clean run either.

import type { Evidence, Flaw } from "../evidence.ts";
import { flawsOfCreates } from "./creates.ts";
import { flawsOfOutcomes } from "./outcomes.ts";
import { flawsOfRest } from "./settled.ts";
import { flawsOfWebhooks } from "./webhooks.ts";

export function check(evidence: Evidence): Flaw[] {
  return [
    ...flawsOfEmptiness(evidence),
    ...flawsOfCreates(evidence),
    ...flawsOfOutcomes(evidence),
    ...flawsOfWebhooks(evidence),
    ...flawsOfRest(evidence),
  ];
}

function flawsOfEmptiness({
  creates,
  decisions,
  heard,
  mails,
  outputs,
  secrets,
}: Evidence): Flaw[] {
  const lists = { creates, decisions, heard, mails, outputs, secrets };
  return Object.entries(lists)
    .filter(([, list]) => list.length === 0)
    .map(([name]) => ({ promise: "there is something to judge", what: `no ${name} were noted` }));
}
