// How far a worker has looked at the hosts of workspaces that have more of them than one claim looks at. The next claim
// continues behind; hosts that it has passed by then are looked at again once there is news.

import type { Look, Standing } from "../storage/deliveries/due-callbacks.ts";

type Walk = {
  after: string;
  /** There was news since the walk began, so it is made once more. */
  isOwed: boolean;
};

/** No host comes behind it: hosts are ASCII. A walk that is over waits here for news. */
const theEnd = "\u007f";

export class HostWalks {
  readonly #walks = new Map<string, Walk>();

  /** Something became due or ended, perhaps at a host that was passed. */
  noteNews(): void {
    for (const [workspaceId, walk] of this.#walks) {
      if (walk.after === theEnd) this.#walks.delete(workspaceId);
      else walk.isOwed = true;
    }
  }

  /** For the next claim, with the weight of what each workspace has under way in this process. */
  standings(underWay: ReadonlyMap<string, number>): Standing[] {
    const workspaceIds = new Set([...underWay.keys(), ...this.#walks.keys()]);
    return [...workspaceIds].map((workspaceId) => ({
      workspaceId,
      underWay: underWay.get(workspaceId) ?? 0,
      after: this.#walks.get(workspaceId)?.after ?? null,
    }));
  }

  /** Answers whether the next claim has more to look at. */
  noteLooks(looks: readonly Look[], underWay: ReadonlyMap<string, number>): boolean {
    const lookedAt = new Set(looks.map(({ workspaceId }) => workspaceId));
    for (const workspaceId of this.#walks.keys()) {
      // A workspace with its share under way is passed over, and continues here later. Any other has nothing due.
      if (!lookedAt.has(workspaceId) && !underWay.has(workspaceId)) this.#walks.delete(workspaceId);
    }
    return looks.map((look) => this.#noteLook(look)).includes(true);
  }

  #noteLook({ workspaceId, last }: Look): boolean {
    const { isOwed = false } = this.#walks.get(workspaceId) ?? {};
    if (last === null && isOwed) {
      this.#walks.delete(workspaceId);
      return true;
    }
    this.#walks.set(workspaceId, { after: last ?? theEnd, isOwed });
    return last !== null;
  }
}
