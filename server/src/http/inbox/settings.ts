// The settings of the inbox: when mail comes, quiet hours, the browsers that show push messages, and Slack accounts.

import { z } from "zod";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import * as channels from "../../operations/channels/person-channels.ts";
import * as personSettings from "../../storage/channels/person-settings.ts";
import * as pushSubscriptions from "../../storage/channels/push-subscriptions.ts";
import * as slackAccounts from "../../storage/channels/slack-accounts.ts";
import type {
  InboxSettings,
  InboxSettingsChange,
  NewPushSubscription,
  SlackLinkCode,
} from "../../wire/inbox-contract.ts";
import { type DashboardRefusal, readForm } from "../dashboard/visit.ts";
import type { Answer } from "../frame/call.ts";
import { reviewProblem } from "../frame/problems.ts";
import type { InboxCalls, Visit } from "./visit.ts";

export async function show(calls: InboxCalls, { person }: Visit): Promise<Answer> {
  const { db, pushPublicKey } = calls;
  const { email } = person;
  const [chosen, publicKey, browsers, accounts, canLinkSlack] = await Promise.all([
    personSettings.find(db, email),
    pushPublicKey(),
    pushSubscriptions.listBrowsers(db, email),
    slackAccounts.listWithTeams(db, email),
    slackAccounts.canLink(db, email),
  ]);
  return told({
    email,
    ...chosen,
    push: {
      publicKey,
      browsers: browsers.map(({ id, sessionId, createdAt }) => ({
        id,
        createdAt: createdAt.toISOString(),
        isThis: sessionId === person.sessionId,
      })),
    },
    slack: accounts.map(({ teamId, teamName, slackUserId, source }) => ({
      ...{ teamId, teamName, slackUserId, source },
    })),
    canLinkSlack,
  } satisfies InboxSettings);
}

const settingsForm: z.ZodType<InboxSettingsChange> = z.object({
  mailAfterMinutes: z.int("must be whole minutes").min(1).max(1_440).nullable(),
  usesSlack: z.boolean("must be true or false"),
  quiet: z.object({ from: z.string(), until: z.string(), timeZone: z.string() }).nullable(),
});

export async function change(calls: InboxCalls, visit: Visit): Promise<Answer> {
  const form = readForm(visit.call, settingsForm);
  if (isRefusal(form)) return refused(form);
  const refusal = await channels.changePersonSettings(calls.db, visit.person.email, form);
  return refusal === null ? show(calls, visit) : refused(refusal);
}

const subscriptionForm: z.ZodType<NewPushSubscription> = z.object({
  endpoint: z.string(),
  keys: z.object({ p256dh: z.string(), auth: z.string() }),
});

/** Whoever was signed in to this browser before hears no more there. */
export async function subscribe(calls: InboxCalls, visit: Visit): Promise<Answer> {
  const form = readForm(visit.call, subscriptionForm);
  if (isRefusal(form)) return refused(form);
  const { email, sessionId } = visit.person;
  const { endpoint, keys } = form;
  const done = await channels.subscribeToPush(calls.db, {
    ...{ email, sessionId, endpoint },
    ...{ publicKey: keys.p256dh, auth: keys.auth },
  });
  return isRefusal(done) ? refused(done) : show(calls, visit);
}

export async function unsubscribe(calls: InboxCalls, visit: Visit): Promise<Answer> {
  const { email } = visit.person;
  const wasThere = await channels.removeBrowser(calls.db, {
    id: named(visit, "id"),
    email,
  });
  return wasThere ? show(calls, visit) : gone("This browser gets no push messages any more.");
}

export async function makeSlackCode({ db }: InboxCalls, { person }: Visit): Promise<Answer> {
  const { id: personId, email } = person;
  const { code, expiresAt } = await channels.makeSlackLinkCode(db, { personId, email });
  return told({ code, expiresAt: expiresAt.toISOString() } satisfies SlackLinkCode);
}

export async function removeSlack(calls: InboxCalls, visit: Visit): Promise<Answer> {
  const { email } = visit.person;
  const teamId = named(visit, "teamId");
  const wasThere = await channels.removeSlackAccount(calls.db, { teamId, email });
  return wasThere ? show(calls, visit) : gone("This Slack account is not linked any more.");
}

/** No id holds a U+0000, which the database refuses: such a name is looked up as one that nothing has. */
function named({ call }: Visit, name: string): string {
  const value = call.params[name] ?? "";
  return value.includes("\0") ? "" : value;
}

function told(value: InboxSettings | SlackLinkCode): Answer {
  return { status: 200, body: JSON.stringify(value) };
}

function refused({ refusal, message }: Refusal | DashboardRefusal): Answer {
  const code = refusal === "invalid_json" ? refusal : "validation_error";
  return reviewProblem(code, message);
}

function gone(message: string): Answer {
  return reviewProblem("not_found", message);
}
