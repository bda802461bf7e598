// Links a Slack account to the person whose code was typed with it. Slack proves the account, the code the person.

import { type Database, inTransaction } from "../../database/database.ts";
import { digestOfSlackLinkCode } from "../../domain/channels/slack-link-code.ts";
import * as slackAccounts from "../../storage/channels/slack-accounts.ts";
import * as slackLinkCodes from "../../storage/channels/slack-link-codes.ts";

export type LinkedSlackAccount = {
  email: string;
  /** The person's account before, in the same team and app; null if there was none, or it is the same. */
  formerUserId: string | null;
  /** Whose account it was before; null if it was nobody's, or theirs. */
  formerEmail: string | null;
};

/** Null when the code is unknown, used up or too old. Nothing changes then. */
export async function linkSlackAccount(
  db: Database,
  {
    code,
    teamId,
    appId,
    slackUserId,
  }: { code: string; teamId: string; appId: string; slackUserId: string },
): Promise<LinkedSlackAccount | null> {
  const digest = digestOfSlackLinkCode(code);
  if (digest === null) return null;
  return inTransaction(db, async (tx) => {
    const owner = await slackLinkCodes.take(tx, digest);
    if (owner === null) return null;
    const { email } = owner;
    const ofPerson = await slackAccounts.findByEmail(tx, { teamId, appId, email });
    const ofAccount = await slackAccounts.find(tx, { teamId, appId, slackUserId });
    await slackAccounts.link(tx, { teamId, appId, slackUserId, email });
    const linked = (account: slackAccounts.SlackAccount | null) =>
      account !== null && account.source === "linked" ? account : null;
    const before = linked(ofPerson);
    const others = linked(ofAccount);
    return {
      email,
      formerUserId:
        before === null || before.slackUserId === slackUserId ? null : before.slackUserId,
      formerEmail: others === null || others.email === email ? null : others.email,
    };
  });
}
