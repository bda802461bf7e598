// Finds who is behind a call, for fair turns: the workspace that the same credential led to before, or until then the
// caller's network. So neither many keys or links of one workspace nor many invented keys get more than one turn. This
// gives nobody any right.

import { hash } from "node:crypto";
import { asHolder } from "../../database/holder.ts";
import { networkOf } from "../../domain/access/network-address.ts";
import { holdersRememberedMax } from "../../domain/limits.ts";
import { type Answer, type Call, type Caller, repeated, type StreamedAnswer } from "./call.ts";
import type { Admission, Route } from "./route.ts";

export class Holders {
  /** By credential, least recently seen first. */
  readonly #workspaces = new Map<string, string>();

  async carryOut(route: Route, call: Call): Promise<Answer | StreamedAnswer> {
    const credential = credentialOf(route, call);
    const holder = this.#holderOf(credential, call);
    const answer = await asHolder(holder, () => route.handle(call));
    if (credential !== null) this.#learn(credential, call.facts.workspaceId, answer.status);
    return answer;
  }

  /** Looks up the sender of a large body before the body is read. */
  admit(route: Route, caller: Caller): Promise<Admission> | undefined {
    const holder = this.#holderOf(credentialOf(route, caller), caller);
    return asHolder(holder, () => route.admit?.(caller));
  }

  #holderOf(credential: string | null, caller: Pick<Caller, "address">): string {
    const workspaceId = credential === null ? undefined : this.#workspaces.get(credential);
    return workspaceId ?? `network ${networkOf(caller.address ?? "")}`;
  }

  #learn(credential: string, workspaceId: string | undefined, status: number): void {
    // Calls with a revoked key must not take turns from the workspace it belonged to.
    if (status === 401) this.#workspaces.delete(credential);
    if (workspaceId === undefined) return;
    this.#workspaces.delete(credential);
    this.#workspaces.set(credential, workspaceId);
    if (this.#workspaces.size <= holdersRememberedMax) return;
    const [oldest] = this.#workspaces.keys();
    if (oldest !== undefined) this.#workspaces.delete(oldest);
  }
}

/** Digests only: a memory of secrets would be one more place to leak them. */
function credentialOf({ access }: Route, call: Caller): string | null {
  switch (access) {
    case "api_key":
    case "mcp":
      return call.keyDigest.toString("latin1");
    case "review_link":
      return hash("sha256", call.params.token ?? "");
    case "dashboard":
    case "inbox": {
      const cookies = call.header("cookie");
      return cookies === null || cookies === repeated ? null : hash("sha256", cookies);
    }
    case "slack":
    case "this_machine":
    case "anyone":
      return null;
    default:
      return access satisfies never;
  }
}
