// Finds the Slack account to which a person's messages go: the one they linked, or, where the workspace goes by
// addresses, the one whose confirmed address is theirs. What Slack says of an address is asked again after a while,
// because people change theirs. The conversation with somebody stays the same, so each connection opens it once.

import { type Database, inOneStatement, inTransaction } from "../database/database.ts";
import { slackLookupMinutes } from "../domain/channels/message-limits.ts";
import type { CallSlack, SlackBody, SlackFailure } from "../domain/channels/slack-answer.ts";
import * as slackAccounts from "../storage/channels/slack-accounts.ts";
import type { SlackConnection } from "../storage/channels/slack-connections.ts";

export type FoundPerson =
  | { kind: "found"; slackUserId: string }
  /** Slack has nobody who counts as this person. `wasKnown` says that mails may wait for a message to them. */
  | { kind: "none"; wasKnown: boolean }
  | { kind: "unanswered"; failure: SlackFailure };

export type OpenedConversation = { ok: true; channel: string } | SlackFailure;

type Call = (method: string, body: Record<string, unknown>) => ReturnType<CallSlack>;

type Remembered = { found: FoundPerson; untilMs: number };

const rememberedMax = 10_000;

export class SlackPeople {
  readonly #db: Database;
  readonly #remembered = new Map<string, Remembered>();
  readonly #conversations = new Map<string, Promise<OpenedConversation>>();

  constructor(db: Database) {
    this.#db = db;
  }

  async find(
    { teamId, appId, matchesEmail }: SlackConnection,
    email: string,
    call: Call,
  ): Promise<FoundPerson> {
    const account = await slackAccounts.findByEmail(this.#db, { teamId, appId, email });
    if (account?.source === "linked") return { kind: "found", slackUserId: account.slackUserId };
    if (!matchesEmail) return { kind: "none", wasKnown: false };
    const key = `${teamId} ${appId} ${email}`;
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined && remembered.untilMs > performance.now()) {
      // Another process may have found them meanwhile, so that mails wait for this message.
      return remembered.found.kind === "none"
        ? { kind: "none", wasKnown: account !== null }
        : remembered.found;
    }
    const answer = await call("users.lookupByEmail", { email });
    if (!answer.ok && answer.error !== "users_not_found") {
      return { kind: "unanswered", failure: answer };
    }
    const slackUserId = answer.ok ? idOfPerson(answer.body.user, { teamId, email }) : null;
    const wasKnown = account !== null;
    const found = await this.#keep({ teamId, appId, email, slackUserId, wasKnown });
    this.#remember(key, found);
    return found;
  }

  /**
   * Messages that one connection sends to one person at the same time wait for one answer. Another connection has another
   * token, even to the same app: it must not fail, or be taken for broken, because this one's was revoked.
   */
  async openConversation(
    { workspaceId, connectedAt }: Pick<SlackConnection, "workspaceId" | "connectedAt">,
    slackUserId: string,
    call: Call,
  ): Promise<OpenedConversation> {
    const key = `${workspaceId} ${connectedAt.getTime()} ${slackUserId}`;
    const opening = this.#conversations.get(key) ?? open(slackUserId, call);
    if (this.#conversations.size >= rememberedMax) this.#conversations.clear();
    this.#conversations.set(key, opening);
    const opened = await opening;
    if (!opened.ok && this.#conversations.get(key) === opening) this.#conversations.delete(key);
    return opened;
  }

  async #keep(who: {
    teamId: string;
    appId: string;
    email: string;
    slackUserId: string | null;
    wasKnown: boolean;
  }): Promise<FoundPerson> {
    const { slackUserId, wasKnown } = who;
    if (slackUserId === null) {
      if (wasKnown) await slackAccounts.removeMatched(inOneStatement(this.#db), who);
      return { kind: "none", wasKnown };
    }
    const isTheirs = await inTransaction(this.#db, (tx) =>
      slackAccounts.rememberEmail(tx, { ...who, slackUserId }),
    );
    // Somebody proved with a code that this account is theirs, and has another address here.
    return isTheirs ? { kind: "found", slackUserId } : { kind: "none", wasKnown };
  }

  #remember(key: string, found: FoundPerson): void {
    if (this.#remembered.size >= rememberedMax) this.#remembered.clear();
    const untilMs = performance.now() + slackLookupMinutes * 60_000;
    // The account was forgotten just now, so no later mail waits for it.
    const lasting = found.kind === "none" ? { ...found, wasKnown: false } : found;
    this.#remembered.set(key, { found: lasting, untilMs });
  }
}

async function open(slackUserId: string, call: Call): Promise<OpenedConversation> {
  const opened = await call("conversations.open", { users: slackUserId });
  if (!opened.ok) return opened;
  const channel = opened.body.channel?.id;
  return typeof channel === "string"
    ? { ok: true, channel }
    : { ok: false, error: "bad_answer", retryAfterSeconds: null };
}

/** Null for guests, strangers, deactivated and unconfirmed people: their address proves nothing. */
function idOfPerson(
  user: SlackBody | null | undefined,
  { teamId, email }: { teamId: string; email: string },
): string | null {
  if (typeof user?.id !== "string") return null;
  const isOther = user.team_id !== teamId || user.is_stranger === true;
  const isGuest = user.is_restricted === true || user.is_ultra_restricted === true;
  const isGone = user.deleted === true || user.is_bot === true;
  const address = String(user.profile?.email).toLowerCase();
  const isTheirs = user.is_email_confirmed === true && address === email.toLowerCase();
  return isTheirs && !isOther && !isGuest && !isGone ? user.id : null;
}
