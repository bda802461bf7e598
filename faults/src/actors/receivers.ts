// Receivers of six temperaments. Each notes what came before it answers, as a receiver that does its work first.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Heard } from "../evidence.ts";
import { type Chance, chanceOf } from "../world/random.ts";

export const temperaments = ["glad", "slow", "moody", "rude", "dripping", "absent"] as const;
export type Temperament = (typeof temperaments)[number];

const slowMsMax = 800;
const dripMs = 150;
const dripParts = 6;
/** Shares of calls that go wrong. Who never answers costs the sender ten seconds each. */
const moodyShare = 0.3;
const rudeShare = 0.2;
const absentShare = 0.03;

export class Receivers {
  readonly heard: Heard[] = [];
  readonly #chance: Chance;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  constructor(seed: number) {
    this.#chance = chanceOf(seed);
  }

  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, temperament, name = ""] = (request.url ?? "").split("/");
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part as Buffer);
    } catch {
      return; // It never came whole, so it was never heard.
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([key, value]) => [key, String(value)]),
    );
    const heard: Heard = {
      ...{ at: Date.now(), endpointId: name, headers },
      ...{ body: Buffer.concat(parts).toString(), answered: null },
    };
    this.heard.push(heard);
    response.on("error", () => {});
    await this.#answer(heard, response, temperament as Temperament);
  }

  async #answer(heard: Heard, response: ServerResponse, temperament: Temperament): Promise<void> {
    const answer = (status: number) => {
      heard.answered = status;
      response.writeHead(status).end("noted");
    };
    switch (temperament) {
      case "slow":
        setTimeout(() => answer(200), this.#chance.whole(slowMsMax));
        return;
      case "moody":
        answer(this.#chance.isTrue(moodyShare) ? 500 : 204);
        return;
      case "rude":
        if (this.#chance.isTrue(rudeShare)) response.socket?.resetAndDestroy();
        else answer(200);
        return;
      case "dripping":
        heard.answered = 200;
        response.writeHead(200);
        await drip(response);
        return;
      case "absent":
        if (!this.#chance.isTrue(absentShare)) answer(202);
        return;
      default:
        answer(200);
    }
  }
}

async function drip(response: ServerResponse): Promise<void> {
  for (let part = 0; part < dripParts; part += 1) {
    response.write(".");
    await new Promise((resolve) => setTimeout(resolve, dripMs));
  }
  response.end();
}
