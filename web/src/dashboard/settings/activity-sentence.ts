// An entry of the activity as a sentence: who did what to which thing. Names that people and agents chose are separate
// parts, so that they are shown as theirs and never read as ours.

import type { Activity, ActivityAction } from "../../../../server/src/wire/dashboard-activity.ts";

export type SentencePart = { text: string } | { name: string };

export type ActivitySentence = {
  parts: SentencePart[];
  /** Recorded details that the sentence has no place for. */
  rest: { key: string; label: string; value: string }[];
};

/**
 * {subject} and {email} are names, {=role} is a plain word. Text in square brackets is left out if the entry lacks that
 * detail.
 */
type Phrase = string | ((entry: Activity) => string);

const phrases: Record<ActivityAction, Phrase> = {
  "workspace.created": "created the workspace {subject}",
  "settings.changed": "changed the settings of {subject}",
  "key.issued": ({ detail }) =>
    isOfApp(detail) ? "connected the app {subject}" : "created the key {subject}[ (…{=lastFour})]",
  "key.changed": "changed the key {subject}[ (…{=lastFour})]",
  "key.revoked": "revoked the key {subject}[ (…{=lastFour})]",
  "endpoint.added": "added the endpoint {subject}",
  "endpoint.changed": "changed the endpoint {subject}",
  "endpoint.enabled": "enabled the endpoint {subject}",
  "endpoint.disabled": "disabled the endpoint {subject}[: {reason}]",
  "endpoint.rotated": "rotated the secret of the endpoint {subject}",
  "endpoint.deleted": "deleted the endpoint {subject}[, called {name}]",
  "endpoint.tested": "sent a test event to {subject}",
  "callback_secret.shown": "looked at the callback secret",
  "callback_secret.rotated": "rotated the callback secret",
  "deliveries.resent": ({ detail }) =>
    detail.count === "1"
      ? "sent [{event} ]again to {subject}"
      : "sent [{=count} deliveries ]again to {subject}",
  "group.created": "created the group {subject}",
  "group.renamed": "renamed a group to {subject}[, until then {from}]",
  "group.changed": "changed the group {subject}",
  "group.member_added": "added [{email} ]to the group {subject}",
  "group.member_removed": "removed [{email} ]from the group {subject}",
  "group.deleted": "deleted the group {subject}",
  "group.teams_set": "gave the group {subject} a place in Teams[, through {host}]",
  "group.teams_removed": "took from the group {subject} its place in Teams",
  "group.slack_channel_set": "gave the group {subject} [the Slack channel {channel}]",
  "group.slack_channel_removed": "took from the group {subject} [the Slack channel {channel}]",
  "slack.connected": "connected the Slack workspace {subject}",
  "slack.disconnected": "disconnected the Slack workspace {subject}",
  "slack.changed": "changed how the Slack workspace {subject} is used",
  "group.mail_delay_changed": ({ detail }) =>
    detail.minutes === undefined
      ? "has mails to the group {subject} sent at once"
      : "has mails to the group {subject} wait[ for {=minutes} minutes]",
  "member.invited": "invited {subject}[ as {=role}]",
  "member.joined": "joined[ as {=role}]",
  "member.declined": "declined the invitation[ as {=role}]",
  "member.added": "added {subject}[ as {=role}]",
  "member.role_changed": "changed the role of {subject}[ from {=from}][ to {=to}]",
  "member.removed": ({ actorEmail, subject }) =>
    actorEmail === subject ? "left the workspace" : "removed {subject}[, who was {=role}]",
  "absence.set": ({ actorEmail, subject }) =>
    `set an absence${actorEmail === subject ? "" : " of {subject}"}[: {delegate} is asked instead]`,
  "absence.changed": ({ actorEmail, subject }) =>
    `changed ${actorEmail === subject ? "an absence" : "the absence of {subject}"}[: {delegate} is asked instead]`,
  "absence.ended": ({ actorEmail, subject }) =>
    `ended ${actorEmail === subject ? "an absence" : "the absence of {subject}"}`,
  "request.withdrawn": "cancelled the request {subject}",
  "requests.cancelled":
    "cancelled {=count} requests[ of the group {group}][ of the key {key}][, by the filter {filter}]",
  "request.mailed_again": "sent the mails for the request {subject} again",
  "request.reminded": "reminded the approvers of the request {subject}",
  "requests.exported": "exported requests as {=subject}",
  "log.exported": "exported the log as {=subject}",
};

/** Details that add nothing to the sentence. */
const unsaid: readonly string[] = ["by", "count"];

const labels = new Map(
  Object.entries({
    url: "URL",
    eventKinds: "Events",
    expiryMinutes: "Default expiry in minutes",
    reminderPercent: "Reminder, per cent of the time left",
    cap: "Safety cap",
    approverLimit: "Who can be asked",
    approverDomains: "Domains of approvers",
    requiresSignature: "Approving only with a passkey",
    receiptHours: "Receipts valid for hours",
    retentionDays: "Days that requests are kept",
    mails: "Mails",
    matchesEmail: "People matched by address",
    showsPayload: "Payloads in Slack",
    redirectUri: "Answer sent to",
    connectedFrom: "Answer sent to",
  }),
);

/** The service acts by itself, such as when it disables an endpoint that only fails. */
const itself = "Countersign itself";

export const operator = "The operator, at the command line,";

export function sentenceOf(entry: Activity): ActivitySentence {
  const { actorEmail, action, subject, detail } = entry;
  // A newer service may know more than this page.
  const phrase = Object.hasOwn(phrases, action) ? phrases[action] : `${action}: {subject}`;
  const template = typeof phrase === "string" ? phrase : phrase(entry);
  const values: Record<string, string> = { ...detail, subject };
  const said = new Set([...template.matchAll(/\{=?(\w+)\}/g)].map(([, key]) => key));
  const actor =
    actorEmail !== null
      ? { name: actorEmail }
      : { text: detail.by === "countersign" ? itself : operator };
  return {
    parts: [actor, { text: " " }, ...partsOf(template, values)],
    rest: Object.entries(detail)
      .filter(([key]) => !said.has(key) && !unsaid.includes(key))
      .map(([key, value]) => ({ key, label: labels.get(key) ?? labelOf(key), value })),
  };
}

/** Earlier entries have the host alone. */
function isOfApp(detail: Activity["detail"]): boolean {
  return "redirectUri" in detail || "connectedFrom" in detail;
}

function partsOf(template: string, values: Record<string, string>): SentencePart[] {
  const whole = template.replaceAll(/\[([^\]]*)\]/g, (_, inner: string) =>
    [...inner.matchAll(/\{=?(\w+)\}/g)].every(([, key = ""]) => Object.hasOwn(values, key))
      ? inner
      : "",
  );
  return whole
    .split(/(\{=?\w+\})/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      const [, plain, key] = /^\{(=?)(\w+)\}$/.exec(piece) ?? [];
      if (key === undefined) return { text: piece };
      const value = values[key] ?? "";
      return plain === "=" ? { text: value } : { name: value };
    });
}

/** failedSince is "Failed since". */
function labelOf(key: string): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
