// Tells the browsers that listen when their person's inbox may differ. One statement a second looks for all of them, and
// nothing is asked while nobody listens. The process's listener makes it look at once when a request was decided or voted on.

import { inSpan } from "../../database/current-span.ts";
import type { Database } from "../../database/database.ts";
import { asHolder } from "../../database/holder.ts";
import type { Listener } from "../../database/listener.ts";
import {
  inboxListenersMax,
  inboxListenersPerPersonMax,
  inboxPollMs,
  inboxPollPauseMs,
} from "../../domain/channels/inbox-limits.ts";
import { manyResolved, resolutionChannel } from "./approval-resolution.ts";
import { findChanges, readSeen, type SeenInbox } from "./inbox-changes.ts";

export type InboxNews = "changed" | "nothing" | "ended";

export type InboxListening = {
  /** The news since the last call, or the first within this time. Only one call at a time. */
  next(ms: number): Promise<InboxNews>;
  close(): void;
};

type Ear = { sessionId: string; news: InboxNews; onNews: () => void };

type Audience = { ears: Set<Ear>; seen: SeenInbox | null };

export class InboxWatch {
  readonly #db: Database;
  readonly #people = new Map<string, Audience>();
  /** The open requests of all who listen. */
  #watched = new Set<string>();
  #listening = 0;
  #timer: NodeJS.Timeout | null = null;
  #isPolling = false;
  #isWoken = false;
  #isStopped = false;

  constructor(db: Database, listener: Listener) {
    this.#db = db;
    listener.on(resolutionChannel, (payload) => this.#announced(payload));
    listener.onChange(() => this.#wake());
  }

  get listening(): number {
    return this.#listening;
  }

  /** Null when too many listen already, or the service is stopping. The first news is that something changed. */
  listen({ email, sessionId }: { email: string; sessionId: string }): InboxListening | null {
    const name = email.toLowerCase();
    const audience = this.#people.get(name) ?? { ears: new Set(), seen: null };
    const isFull =
      audience.ears.size >= inboxListenersPerPersonMax || this.#listening >= inboxListenersMax;
    if (this.#isStopped || isFull) return null;
    const ear: Ear = { sessionId, news: "nothing", onNews: () => {} };
    this.#people.set(name, audience);
    audience.ears.add(ear);
    this.#listening += 1;
    // Read anew for all ears of the person: this one must learn of whatever happens from now on.
    audience.seen = null;
    this.#wake();
    return { next: (ms) => nextNews(ear, ms), close: () => this.#close(name, ear) };
  }

  /** Ends everybody's listening, so that their answers can end. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { ears } of this.#people.values()) for (const ear of ears) tell(ear, "ended");
  }

  #close(name: string, ear: Ear): void {
    const audience = this.#people.get(name);
    if (audience === undefined || !audience.ears.delete(ear)) return;
    this.#listening -= 1;
    if (audience.ears.size === 0) this.#people.delete(name);
    if (this.#people.size === 0 && this.#timer !== null) clearTimeout(this.#timer);
    tell(ear, "ended");
  }

  #announced(payload: string): void {
    const isWatched = payload.split(",").some((id) => this.#watched.has(id));
    if (isWatched || payload === manyResolved) this.#wake();
  }

  #wake(): void {
    if (this.#isPolling) this.#isWoken = true;
    else this.#schedule(inboxPollPauseMs);
  }

  #schedule(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isStopped || this.#people.size === 0) return;
    // What wakes it may be somebody's call; the look is everybody's.
    this.#timer = inSpan(null, () => asHolder(null, () => setTimeout(() => void this.#poll(), ms)));
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    this.#isWoken = false;
    try {
      await this.#look();
    } catch {
      // The database is out of reach. Listeners learn of what they missed at the next look.
    }
    this.#isPolling = false;
    this.#schedule(this.#isWoken ? inboxPollPauseMs : inboxPollMs);
  }

  async #look(): Promise<void> {
    const audiences = [...this.#people.values()];
    const seen = audiences.flatMap((each) => each.seen ?? []);
    const sessionIds = new Set(
      audiences.flatMap(({ ears }) => [...ears].map((ear) => ear.sessionId)),
    );
    const { emails, endedSessions } = await findChanges(this.#db, seen, [...sessionIds]);
    for (const { ears } of audiences) {
      for (const ear of ears) if (endedSessions.has(ear.sessionId)) tell(ear, "ended");
    }
    for (const [name, { seen: known }] of this.#people) if (known === null) emails.add(name);
    if (emails.size === 0) return;
    // Told only after it was read: whoever asks now finds at least what this look has found.
    for (const inbox of await readSeen(this.#db, [...emails])) {
      const audience = this.#people.get(inbox.email);
      if (audience === undefined) continue;
      audience.seen = inbox;
      for (const ear of audience.ears) tell(ear, "changed");
    }
    const open = [...this.#people.values()].flatMap((each) => [...(each.seen?.open.keys() ?? [])]);
    this.#watched = new Set(open);
  }
}

/** The end is never replaced by other news. */
function tell(ear: Ear, news: InboxNews): void {
  if (ear.news !== "ended") ear.news = news;
  ear.onNews();
}

function nextNews(ear: Ear, ms: number): Promise<InboxNews> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      ear.onNews = () => {};
      const { news } = ear;
      if (news !== "ended") ear.news = "nothing";
      resolve(news);
    };
    const timer = setTimeout(end, ms);
    ear.onNews = end;
    if (ear.news !== "nothing") end();
  });
}
