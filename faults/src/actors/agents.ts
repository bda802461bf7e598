// Agents: each asks, asks again under the same key until it knows, looks at the answer, and sometimes takes it back.

import { setTimeout as pause } from "node:timers/promises";
import type { Asked, CancelCall, CreateCall, ReadCall } from "../evidence.ts";
import { type Chance, chanceOf } from "../world/random.ts";
import { callNoted, type Door } from "./caller.ts";

export type AgentWorkspace = { id: string; key: string };

const triesMax = 12;
const retryMs = 500;
const cancelledShare = 0.08;
const defaultExpiryShare = 0.5;
const readsMax = 3;
/** Few enough that some get more mails than one by one. */
const peopleCount = 200;

export class Agents {
  readonly creates: CreateCall[] = [];
  readonly reads: ReadCall[] = [];
  readonly cancels: CancelCall[] = [];
  readonly #doors: readonly Door[];
  readonly #workspaces: readonly AgentWorkspace[];
  readonly #seed: number;
  #asked = 0;

  constructor(doors: readonly Door[], workspaces: readonly AgentWorkspace[], seed: number) {
    this.#doors = doors;
    this.#workspaces = workspaces;
    this.#seed = seed;
  }

  /** Until told to stop; what is under way is brought to its end. */
  async run({
    agents,
    perSecond,
    signal,
  }: {
    agents: number;
    perSecond: number;
    signal: AbortSignal;
  }) {
    const pauseMs = (1_000 * agents) / perSecond;
    const all = Array.from({ length: agents }, async (_, n) => {
      const chance = chanceOf(this.#seed + 7_919 * (n + 1));
      while (!signal.aborted) {
        const startedAt = Date.now();
        await this.#ask(chance);
        const left = Math.max(0, pauseMs - (Date.now() - startedAt));
        await pause(left * (0.5 + chance.next()), undefined, { signal }).catch(() => {});
      }
    });
    await Promise.all(all);
  }

  async #ask(chance: Chance): Promise<void> {
    this.#asked += 1;
    const workspace = chance.oneOf(this.#workspaces);
    const tag = `tag-${this.#seed.toString(16)}-${this.#asked}`;
    const summary = `Refund order ${this.#asked} ${tag}`;
    const payload = payloadOf(chance, this.#asked);
    const approver = `person${chance.whole(peopleCount)}@example.com`;
    const wanted = {
      workspaceId: workspace.id,
      idempotencyKey: `key ${tag}`,
      summary,
      payload,
      approver,
    };
    const id = await this.#insist(chance, workspace, wanted);
    if (id === null) return;
    for (let reads = chance.whole(readsMax + 1); reads > 0; reads -= 1) {
      await pause(chance.whole(2_000));
      await this.#read(chance, workspace, id);
    }
    if (chance.isTrue(cancelledShare)) await this.#cancel(chance, workspace, id);
  }

  /** The request's id, or null if nobody knows it after all tries. */
  async #insist(
    chance: Chance,
    { key }: AgentWorkspace,
    wanted: Omit<CreateCall, keyof Asked>,
  ): Promise<string | null> {
    const { summary, payload, approver, idempotencyKey } = wanted;
    const ttl = chance.isTrue(defaultExpiryShare) ? "" : ',"ttlMinutes":5';
    const body = `{"summary":${JSON.stringify(summary)},"notify":"${approver}","payload":${payload}${ttl}}`;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const answer = await callNoted(this.creates, wanted, this.#doors, chance.whole(2), {
        method: "POST",
        path: "/v1/requests",
        headers: { ...bearer(key), "idempotency-key": idempotencyKey },
        body,
      });
      if (answer.status === 201) return JSON.parse(answer.answer ?? "").id;
      if (answer.status !== null && answer.status < 500 && answer.status !== 429) return null;
      await pause(retryMs);
    }
    return null;
  }

  async #read(chance: Chance, { id: workspaceId, key }: AgentWorkspace, requestId: string) {
    const about = { workspaceId, requestId };
    await callNoted(this.reads, about, this.#doors, chance.whole(2), {
      method: "GET",
      path: `/v1/requests/${requestId}`,
      headers: bearer(key),
    });
  }

  async #cancel(chance: Chance, { id: workspaceId, key }: AgentWorkspace, requestId: string) {
    const about = { workspaceId, requestId };
    await callNoted(this.cancels, about, this.#doors, chance.whole(2), {
      method: "POST",
      path: `/v1/requests/${requestId}/cancel`,
      headers: bearer(key),
    });
  }
}

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, "content-type": "application/json" };
}

/** Spellings that JSON.parse and JSON.stringify would change. */
function payloadOf(chance: Chance, n: number): string {
  const amount = chance.oneOf(["1.0", "1E2", "9007199254740993", "0.10", "-0"]);
  const note = chance.oneOf([
    String.raw`caf\u00e9 \/ bar`,
    "plain",
    String.raw`line\nbreak`,
    "für Zoë",
  ]);
  return `{"order": ${n}, "amount": ${amount},  "note": "${note}", "2": "b", "1": "a"}`;
}
