// Spreads news of a request to its messages: those that it should have are made due, new or again. Nothing is sent here.
// The news and what follows from it are one transaction, so a worker that dies in between loses neither.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { wantedMessages } from "../../domain/channels/wanted-messages.ts";
import * as askedPeople from "../../storage/channels/asked-people.ts";
import * as channelMessages from "../../storage/channels/channel-messages.ts";
import * as channelNews from "../../storage/channels/channel-news.ts";
import { hurryMailsOf, hurryMailsTo } from "./hurry-mails.ts";

export type Spread = {
  /** The wait of each message that isn't due yet. */
  waitMs: readonly number[];
  /** Mails that no longer wait, because no message reaches their readers. */
  hurried: number;
};

/** Spreads the news of one request; null when there is none. */
export async function spreadNews(db: Database): Promise<Spread | null> {
  return inTransaction(db, async (tx) => {
    const news = await channelNews.takeNext(tx);
    if (news === null) return null;
    await channelNews.takeTurn(tx, news);
    return spread(tx, news);
  });
}

async function spread(tx: Transaction, news: channelNews.News): Promise<Spread> {
  const state = await askedPeople.find(tx, news);
  if (state === null) return { waitMs: [], hurried: 0 };
  const { messages, unreached } = wantedMessages(state, news.asks);
  const isFirst = messages.length > 0 && !state.hasChannels;
  // It has ended a moment ago, so nobody is to be asked.
  if (isFirst && !(await askedPeople.noteChannels(tx, news))) return { waitMs: [], hurried: 0 };
  const waitMs = await channelMessages.want(tx, news, messages);
  if (!news.asks) return { waitMs, hurried: 0 };
  let hurried = await hurryMailsTo(tx, news, unreached);
  // Somebody is asked once more whom a message could not reach before. It isn't tried again, so their mail waits for none.
  for (const givenUp of await channelMessages.listGivenUp(tx, news)) {
    hurried += await hurryMailsOf(tx, { ...news, ...givenUp });
  }
  return { waitMs, hurried };
}
