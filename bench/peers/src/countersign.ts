// Countersign, as an agent and an approver use it: the agent creates and reads with its API key, the approver opens the
// review link and approves on the page, and the agent reads the decision.

import { hash } from "node:crypto";
import { type Database, openDatabase } from "../../../server/src/database/database.ts";
import { parseKeyring, type SecretKey } from "../../../server/src/domain/access/keyring.ts";
import { deriveReviewToken } from "../../../server/src/domain/access/review-link.ts";
import { shownText } from "../../../server/src/domain/shown/shown-text.ts";
import type { Review, ReviewPage } from "../../../server/src/wire/review-contract.ts";
import { type HttpConnection, HttpConnections } from "./http-connection.ts";
import {
  type Contender,
  connectionsMax,
  readsPerJob,
  type Setup,
  serveOrders,
} from "./peer-process.ts";

serveOrders(openCountersign);

async function openCountersign({ connection, service, body }: Setup): Promise<Contender> {
  const secretKey = secretKeyOf(service);
  const { port, apiKey } = service;
  const address = { host: "127.0.0.1", port };
  const agents = new HttpConnections(address, { authorization: `Bearer ${apiKey}` });
  const origin = `http://localhost:${port}`;
  const approvers = new HttpConnections(address, { origin, "sec-fetch-site": "same-origin" });
  const db = openDatabase({ connection, connectionsMax, onIdleFault: () => {} });

  async function runJob(client: number): Promise<void> {
    const agent = agents.of(client);
    const { body: created } = await agent.call("POST", "/v1/requests", 201, body);
    const id = idOf(created);
    for (let read = 0; read < readsPerJob; read += 1) await expectStatus(agent, id, "PENDING");
    await approve(approvers.of(client), await findReviewToken(db, secretKey, id));
    await expectStatus(agent, id, "APPROVED");
  }

  async function close(): Promise<void> {
    agents.close();
    approvers.close();
    await db.end();
  }

  return { name: "Countersign", port: null, runJob, close };
}

function secretKeyOf({ secretKey }: Setup["service"]): SecretKey {
  const keyring = parseKeyring(secretKey);
  if (keyring === null) throw new Error("the SECRET_KEY of the service is not a key");
  return keyring.current;
}

function idOf(created: string): string {
  const { id }: { id: string } = JSON.parse(created);
  return id;
}

async function expectStatus(agent: HttpConnection, id: string, expected: string): Promise<void> {
  const { body } = await agent.call("GET", `/v1/requests/${id}`, 200);
  const { status }: { status: string } = JSON.parse(body);
  if (status !== expected) throw new Error(`the request is ${status} instead of ${expected}`);
}

/** In the place of the mail that carries the link: what the mail is made of. */
async function findReviewToken(db: Database, key: SecretKey, id: string): Promise<string> {
  const { rows } = await db.query<{ token_nonce: Buffer }>({
    name: "find_nonce",
    text: "select token_nonce from reviewers where approval_id = $1",
    values: [id],
  });
  if (rows[0] === undefined) throw new Error("nobody was asked");
  return deriveReviewToken(key, rows[0].token_nonce);
}

async function approve(approver: HttpConnection, token: string): Promise<void> {
  const { body: page } = await approver.call("GET", `/review/${token}`, 200);
  const review = reviewOf(page);
  const digest = hash("sha256", shownText(review), "hex");
  const decision = JSON.stringify({ verdict: "approve", digest, ticket: review.ticket });
  await approver.call("POST", `/review/${token}/decision`, 200, decision);
}

/** The data that the page embeds for its script. */
function reviewOf(html: string): Review {
  const text = /id="review-data">([^<]*)<\/script>/.exec(html)?.[1];
  const page: ReviewPage | null = text === undefined ? null : JSON.parse(text);
  if (page?.kind !== "review") throw new Error("the link shows no request");
  return page.review;
}
