// People: each opens the link that was mailed, reads, and decides, with or without an edit, or never comes.

import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { shownText } from "../../../server/src/domain/shown/shown-text.ts";
import type { ReviewPage } from "../../../server/src/wire/review-contract.ts";
import type { DecideCall, Mail, OpenCall } from "../evidence.ts";
import { type Chance, chanceOf } from "../world/random.ts";
import { callNoted, type Door } from "./caller.ts";

const awayShare = 0.15;
const rejectShare = 0.2;
const editShare = 0.3;
const thinksMsMax = 3_000;
const triesMax = 8;
const retryMs = 1_000;

export class People {
  readonly decisions: DecideCall[] = [];
  readonly opens: OpenCall[] = [];
  /** What the links are made of: nobody else may ever learn it. */
  readonly tokens: string[] = [];
  readonly #doors: readonly Door[];
  readonly #publicUrl: string;
  readonly #chance: Chance;
  readonly #seen = new Set<string>();
  readonly #busy = new Set<Promise<void>>();
  #haveLeft = false;

  constructor(doors: readonly Door[], publicUrl: string, seed: number) {
    this.#doors = doors;
    this.#publicUrl = publicUrl;
    this.#chance = chanceOf(seed);
  }

  take({ to, text }: Mail): void {
    for (const [, token = ""] of text.matchAll(/\/review\/([\w-]{20,})/g)) this.#answer(token, to);
  }

  #answer(token: string, to: string): void {
    if (this.#seen.has(token)) return;
    this.#seen.add(token);
    this.tokens.push(token);
    if (this.#chance.isTrue(awayShare) || this.#haveLeft) return;
    const seed = this.#chance.whole(2 ** 31);
    const working = this.#decide(token, to, chanceOf(seed)).finally(() =>
      this.#busy.delete(working),
    );
    this.#busy.add(working);
  }

  /** From now on nobody comes for a mail, however late it is. */
  async leave(): Promise<void> {
    this.#haveLeft = true;
    await this.untilDone();
  }

  async untilDone(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }

  async #decide(token: string, email: string, chance: Chance): Promise<void> {
    const isRejected = chance.isTrue(rejectShare);
    const edit =
      !isRejected && chance.isTrue(editShare) ? `{"amount": ${chance.whole(1e6)}.50}` : null;
    for (let tries = 0; tries < triesMax; tries += 1) {
      await pause(tries === 0 ? chance.whole(thinksMsMax) : retryMs);
      const page = await this.#open(token, email, chance);
      if (page === null) continue;
      if (page.kind !== "review" || page.review.outcome !== null) return;
      const { review } = page;
      const { ticket } = review;
      const digest = hash("sha256", shownText(review), "hex");
      const verdict = isRejected ? "reject" : "approve";
      const text = JSON.stringify({ verdict, digest, ticket });
      const body = edit === null ? text : `${text.slice(0, -1)},"edit":${edit}}`;
      const about = { summary: review.summary, email, verdict, edit } as const;
      const answer = await callNoted(this.decisions, about, this.#doors, chance.whole(2), {
        method: "POST",
        path: `/review/${token}/decision`,
        headers: {
          ...{ "content-type": "application/json", "sec-fetch-site": "same-origin" },
          origin: new URL(this.#publicUrl).origin,
        },
        body,
      });
      if (answer.status !== null && answer.status < 500) return;
    }
  }

  async #open(token: string, email: string, chance: Chance): Promise<ReviewPage | null> {
    const { status, answer } = await callNoted(
      this.opens,
      { email },
      this.#doors,
      chance.whole(2),
      {
        method: "GET",
        path: `/review/${token}`,
        headers: {},
      },
    );
    if (status !== 200 || answer === null) return null;
    const data = /<script type="application\/json" id="review-data">([^<]*)<\/script>/.exec(answer);
    return JSON.parse(data?.[1] ?? "null") as ReviewPage | null;
  }
}
