// All promises at once. No answer is a clean run; a run in which nothing worked is no clean run either.

import type { Evidence, Flaw } from "../evidence.ts";
import { flawsOfAnswers } from "./answers.ts";
import { flawsOfCreates } from "./creates.ts";
import { flawsOfMails } from "./mails.ts";
import { flawsOfOutcomes } from "./outcomes.ts";
import { flawsOfOutputs } from "./outputs.ts";
import { flawsOfPlaces } from "./places.ts";
import { flawsOfRest } from "./settled.ts";
import { flawsOfWebhooks } from "./webhooks.ts";

/** An endpoint that got as many webhooks has accepted one of them. */
const webhooksMany = 10;

export function check(evidence: Evidence): Flaw[] {
  return [
    ...flawsOfEmptiness(evidence),
    ...flawsOfCreates(evidence),
    ...flawsOfAnswers(evidence),
    ...flawsOfOutcomes(evidence),
    ...flawsOfPlaces(evidence),
    ...flawsOfWebhooks(evidence),
    ...flawsOfMails(evidence),
    ...flawsOfOutputs(evidence),
    ...flawsOfRest(evidence),
  ];
}

function flawsOfEmptiness(evidence: Evidence): Flaw[] {
  const accepted = evidence.heard.filter(({ answered }) => answered !== null && answered < 300);
  const lists = {
    "create was acknowledged": evidence.creates.filter(({ status }) => status === 201),
    "decision was accepted": evidence.decisions.filter(({ status }) => status === 200),
    "webhook was accepted": accepted,
    "mail was taken": evidence.mails.filter(({ isTaken }) => isTaken),
    "process was noted": evidence.outputs,
    "secret was noted": evidence.secrets,
  };
  const isAccepting = new Set(accepted.map(({ endpointId }) => endpointId));
  const deliveries = Map.groupBy(evidence.deliveries, ({ endpointId }) => endpointId);
  return [
    ...Object.entries(lists)
      .filter(([, list]) => list.length === 0)
      .map(([name]) => empty(`no ${name}`)),
    ...[...deliveries]
      .filter(([id, own]) => id !== null && own.length >= webhooksMany && !isAccepting.has(id))
      .map(([id]) => empty(`${id} accepted no webhook`)),
    ...evidence.outputs
      .filter(({ text }) => text === "")
      .map(({ process }) => empty(`${process} wrote nothing`)),
  ];
}

const empty = (what: string): Flaw => ({ promise: "there is something to judge", what });
