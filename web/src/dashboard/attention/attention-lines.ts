// What needs attention, as lines of the strip and marks in the rail. Each line says what and how much, and leads to the
// page where it can be mended.

import type {
  Attention,
  AttentionCount,
  AttentionEndpoint,
} from "../../../../server/src/wire/dashboard-attention.ts";
import { describeCount } from "../../look/shares.ts";

export type AttentionLine = {
  key: string;
  place: MarkedPlace;
  what: string;
  /** A stranger's words: an address, or a URL behind its name. */
  theirs?: string;
  /** A word before the time: "First failed" 3 minutes ago. */
  when?: { word: string; at: string };
  notes: readonly string[];
  target: AttentionTarget;
};

export type AttentionTarget =
  | { page: "endpoint"; endpointId: string }
  | { page: "endpoints" }
  | { page: "request"; requestId: string }
  | { page: "pending" }
  | { page: "delivery"; deliveryId: string }
  | { page: "channels" }
  | { page: "usage" };

export type MarkedPlace = "requests" | "webhooks" | "settings";

/** The most urgent first. None is the usual case. */
export function linesOf(attention: Attention): AttentionLine[] {
  return [
    ...quotaLines(attention),
    ...expiringLines(attention),
    ...mailLines(attention),
    ...slackLines(attention),
    ...callbackLines(attention),
    ...endpointLines(attention),
  ];
}

/** For each place in the rail that has lines: what they say. */
export function marksOf(attention: Attention): Partial<Record<MarkedPlace, string>> {
  const marks: Partial<Record<MarkedPlace, string>> = {};
  for (const { place, what } of linesOf(attention)) {
    const said = marks[place];
    if (said === undefined) marks[place] = what;
    else if (!said.split("; ").includes(what)) marks[place] = `${said}; ${what}`;
  }
  return marks;
}

function quotaLines({ quota }: Attention): AttentionLine[] {
  if (quota === null) return [];
  const used = `${describeCount(quota.used)} of ${describeCount(quota.limit)} requests this month`;
  return [
    {
      key: "quota",
      place: "settings",
      what: quota.isUsedUp ? "Monthly volume used up" : "Monthly volume nearly used up",
      notes: quota.isUsedUp
        ? [used, "new requests are refused until the next month (UTC)"]
        : [used],
      target: { page: "usage" },
    },
  ];
}

function expiringLines({ expiring }: Attention): AttentionLine[] {
  if (expiring === null) return [];
  const { count, first } = expiring;
  const isOne = count === 1 && !expiring.isMore;
  return [
    {
      key: "expiring",
      place: "requests",
      what: isOne ? "1 request expires soon" : `${tell(expiring)} requests expire soon`,
      when: { word: isOne ? "Expires" : "The first", at: first.expiresAt },
      notes: ["nobody has decided yet"],
      target: isOne ? { page: "request", requestId: first.requestId } : { page: "pending" },
    },
  ];
}

function mailLines({ failedMails }: Attention): AttentionLine[] {
  const { named, count, isMore } = failedMails;
  const lines = named.map(
    ({ deliveryId, email, failedAt }): AttentionLine => ({
      key: deliveryId,
      place: "requests",
      what: "Mail to an approver failed",
      theirs: email,
      when: { word: "Failed", at: failedAt },
      notes: ["they may not know of the request"],
      target: { page: "delivery", deliveryId },
    }),
  );
  const rest = count - named.length;
  if (rest <= 0) return lines;
  const what = isMore
    ? `More than ${describeCount(rest)} other mails to approvers failed`
    : `${describeCount(rest)} more ${rest === 1 ? "mail" : "mails"} to approvers failed`;
  return [
    ...lines,
    { key: "mails", place: "requests", what, notes: [], target: { page: "pending" } },
  ];
}

function slackLines({ brokenSlack }: Attention): AttentionLine[] {
  if (brokenSlack === undefined) return [];
  return [
    {
      key: "slack",
      place: "settings",
      what: "Slack refuses the connection",
      theirs: brokenSlack.teamName,
      when: { word: "Since", at: brokenSlack.at },
      notes: ["people are asked by mail until it is connected again"],
      target: { page: "channels" },
    },
  ];
}

function callbackLines({ failedCallbacks }: Attention): AttentionLine[] {
  if (failedCallbacks === undefined) return [];
  const { named, count, isMore, otherDeliveryId } = failedCallbacks;
  const lines = named.map(
    ({ deliveryId, host, failedAt, count: toHost }): AttentionLine => ({
      key: deliveryId,
      place: "requests",
      what: toHost === 1 ? "Callback failed" : `${describeCount(toHost)} callbacks failed`,
      theirs: host,
      when: { word: toHost === 1 ? "Failed" : "Last failed", at: failedAt },
      notes: ["the workflow may still wait for the outcome"],
      target: { page: "delivery", deliveryId },
    }),
  );
  if (otherDeliveryId === undefined) return lines;
  const rest = named.reduce((left, each) => left - each.count, count);
  const what = isMore
    ? `More than ${describeCount(rest)} other callbacks failed`
    : `${describeCount(rest)} more ${rest === 1 ? "callback" : "callbacks"} failed`;
  const target = { page: "delivery", deliveryId: otherDeliveryId } as const;
  return [...lines, { key: "callbacks", place: "requests", what, notes: [], target }];
}

function endpointLines({ endpoints }: Attention): AttentionLine[] {
  const { named, count } = endpoints;
  const lines = named.map(
    (endpoint): AttentionLine => ({
      key: endpoint.id,
      place: "webhooks",
      what: whatOf[endpoint.trouble],
      theirs: endpoint.name === undefined ? endpoint.url : `${endpoint.name}, ${endpoint.url}`,
      when: { word: whenOf[endpoint.trouble], at: endpoint.since },
      notes: countsOf(endpoint),
      target: { page: "endpoint", endpointId: endpoint.id },
    }),
  );
  const rest = count - named.length;
  if (rest <= 0) return lines;
  const what = `${rest} more ${rest === 1 ? "endpoint needs" : "endpoints need"} attention`;
  return [
    ...lines,
    { key: "endpoints", place: "webhooks", what, notes: [], target: { page: "endpoints" } },
  ];
}

const whatOf: Record<AttentionEndpoint["trouble"], string> = {
  failing: "Webhook endpoint failing",
  disabled: "Webhook endpoint disabled",
  missed: "Webhook deliveries failed",
};

const whenOf: Record<AttentionEndpoint["trouble"], string> = {
  failing: "First failed",
  disabled: "Disabled",
  missed: "Last failed",
};

function countsOf({ trouble, missed, waiting }: AttentionEndpoint): string[] {
  const given = trouble === "failing" ? "given up" : trouble === "missed" ? "not resent" : "missed";
  const counts = missed.count === 0 ? [] : [`${deliveries(missed)} ${given}`];
  return waiting.count === 0 ? counts : [...counts, `${tell(waiting)} waiting`];
}

function deliveries(counted: AttentionCount): string {
  return counted.count === 1 && !counted.isMore ? "1 delivery" : `${tell(counted)} deliveries`;
}

function tell({ count, isMore }: AttentionCount): string {
  return isMore ? `${describeCount(count)} or more` : describeCount(count);
}
