// Decisions by people: each is opened as its page is, and then decided, beside the one statement that a decision is.

import { hash } from "node:crypto";
import { findSecretKey } from "../../../server/src/domain/access/keyring.ts";
import { deriveReviewToken } from "../../../server/src/domain/access/review-link.ts";
import { operatorEvidence } from "../../../server/src/domain/proof/evidence.ts";
import { shownText } from "../../../server/src/domain/shown/shown-text.ts";
import { resolutionQuery } from "../../../server/src/storage/approvals/approval-resolution.ts";
import type { ReviewPage } from "../../../server/src/wire/review-contract.ts";
import { type Bench, inTurns, nameOfClients } from "../bench.ts";
import { approver } from "../example-body.ts";
import { type Figure, waitedOf } from "../figure.ts";
import type { LoadResult } from "../load-process.ts";
import { type Service, withService } from "../service.ts";
import { create, openWorkspace, type Statement, type Workspace } from "../workloads.ts";

const clientsOf = [1, 16, 64];
const openedAtOnce = 8;

export function measureDecisions(bench: Bench): Promise<Figure[]> {
  return withService(bench, { TRUSTED_PROXIES: "127.0.0.1" }, async (service) => {
    const { load, plan, signal } = bench;
    const workspace = await openWorkspace(service);
    const turns = clientsOf.map((clients) => {
      return { clients, ours: Array.of<LoadResult>(), ceiling: Array.of<number>() };
    });
    await inTurns(bench, "decide", async () => {
      for (const { clients, ours, ceiling } of turns) {
        const ids = await createMany(service, workspace, plan.decisions * 2);
        const requests = await openReviews(service, ids.slice(0, plan.decisions));
        const { port, connection } = service;
        const decide = { kind: "http once", port, requests, status: 200, clients } as const;
        ours.push(await load.run(decide, signal));
        const statements = ids.slice(plan.decisions).map((id) => decision(workspace, id));
        const pace = { clients, rampMs: 0, measureMs: 0 };
        const bare = { kind: "statements", connection, statements, isOnce: true, ...pace } as const;
        ceiling.push((await load.run(bare, signal)).perSecond);
      }
    });
    return turns.map(
      ({ clients, ours, ceiling }): Figure => ({
        work: "decide",
        variant: nameOfClients(clients),
        unit: "per second",
        ours: ours.map(({ perSecond }) => perSecond),
        ceiling: { name: "bare pg", rounds: ceiling },
        waited: waitedOf(ours),
        target: null,
      }),
    );
  });
}

export async function createMany(service: Service, workspace: Workspace, count: number) {
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Array.from({ length: openedAtOnce }, () => create(service, workspace));
    ids.push(...(await Promise.all(batch)).map(({ id }) => id));
  }
  return ids.slice(0, count);
}

/** The HTTP requests that decide, each as its page would send it. */
export async function openReviews(service: Service, ids: string[]): Promise<string[]> {
  const tokens = await tokensOf(service, ids);
  const requests: string[] = [];
  for (let at = 0; at < tokens.length; at += openedAtOnce) {
    const batch = tokens.slice(at, at + openedAtOnce);
    requests.push(...(await Promise.all(batch.map((token) => openReview(service, token)))));
  }
  return requests;
}

async function tokensOf({ db, keyring }: Service, ids: string[]): Promise<string[]> {
  const { rows } = await db.query<{ secret_key_id: string; token_nonce: Buffer }>(
    "select secret_key_id, token_nonce from reviewers where approval_id = any ($1::text[])",
    [ids],
  );
  return rows.map(({ secret_key_id, token_nonce }) => {
    const key = findSecretKey(keyring, secret_key_id);
    if (key === null) throw new Error("the key of a review link is not in the keyring");
    return deriveReviewToken(key, token_nonce);
  });
}

async function openReview({ port }: Service, token: string): Promise<string> {
  const origin = `http://localhost:${port}`;
  const address = addressOf(token);
  const headers = { "x-forwarded-for": address };
  const html = await (await fetch(`http://127.0.0.1:${port}/review/${token}`, { headers })).text();
  const data = /<script type="application\/json" id="review-data">([^<]*)<\/script>/.exec(html);
  const page = JSON.parse(data?.[1] ?? "null") as ReviewPage | null;
  if (page?.kind !== "review") throw new Error("a review page holds no review");
  const { review } = page;
  const digest = hash("sha256", shownText(review), "hex");
  const json = JSON.stringify({ verdict: "approve", digest, ticket: review.ticket });
  return (
    `POST /review/${token}/decision HTTP/1.1\r\nHost: localhost\r\nOrigin: ${origin}\r\n` +
    `Sec-Fetch-Site: same-origin\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
  );
}

/** Each person is somewhere else: what one network may call in a minute is less than a fast machine decides. */
function addressOf(token: string): string {
  const [one, two, three] = hash("sha256", token, "buffer");
  return `10.${one}.${two}.${three}`;
}

function decision(workspace: Workspace, id: string): Statement {
  const approved = { status: "APPROVED", byEmail: approver, note: null, edit: null } as const;
  const evidence = { ...operatorEvidence, shownDigest: Buffer.alloc(32) };
  const deciding = { via: "link", evidence } as const;
  const { text, values } = resolutionQuery({ workspaceId: workspace.id, id }, approved, deciding);
  return { name: "decide", text, values, varying: null };
}
