// A reviewer under test: finds the links that were mailed, opens them, and decides as the page's own script would.

import { hash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Queryable } from "../src/database/database.ts";
import { findSecretKey, type Keyring } from "../src/domain/access/keyring.ts";
import { deriveReviewCode } from "../src/domain/access/review-code.ts";
import { deriveReviewToken } from "../src/domain/access/review-link.ts";
import { placeShown, placeToHandOver } from "../src/domain/shown/reviewer-place.ts";
import { shownText } from "../src/domain/shown/shown-text.ts";
import type {
  Review,
  ReviewErrorBody,
  ReviewPage,
  ReviewStatus,
} from "../src/wire/review-contract.ts";
import { testKeyring, testPublicUrl } from "./test-service.ts";

export type TestReviewer = { email: string; token: string; code: string };

/** Everybody who was asked, in the order of their addresses, with what their mail tells them. */
export async function listReviewers(
  db: Queryable,
  approvalId: string,
  keyring: Keyring = testKeyring,
): Promise<TestReviewer[]> {
  const { rows } = await db.query<{ email: string; secret_key_id: string; token_nonce: Buffer }>(
    "select email, secret_key_id, token_nonce from reviewers where approval_id = $1 order by email",
    [approvalId],
  );
  return rows.map(({ email, secret_key_id, token_nonce }) => {
    const key = findSecretKey(keyring, secret_key_id);
    if (key === null) throw new Error(`the key of the link to ${email} is not in the keyring`);
    const token = deriveReviewToken(key, token_nonce);
    return { email, token, code: deriveReviewCode(key, token_nonce) };
  });
}

/** The one who was asked, or one of several by address. */
export async function findReviewer(
  db: Queryable,
  approvalId: string,
  { email, keyring = testKeyring }: { email?: string; keyring?: Keyring } = {},
): Promise<TestReviewer> {
  const all = await listReviewers(db, approvalId, keyring);
  const found = email === undefined ? all[0] : all.find((each) => each.email === email);
  if (found === undefined) throw new Error(`${email ?? "nobody"} was asked about ${approvalId}`);
  return found;
}

/** The headers that a browser adds to a call of the page's own script. */
export function sameOriginHeaders(publicUrl: string = testPublicUrl): Record<string, string> {
  return { origin: new URL(publicUrl).origin, "sec-fetch-site": "same-origin" };
}

/** The data that is embedded in the page. */
export function reviewDataOf(html: string): ReviewPage {
  const block = /<script type="application\/json" id="review-data">([^<]*)<\/script>/.exec(html);
  if (block === null) throw new Error("the page holds no data");
  return JSON.parse(block[1] ?? "") as ReviewPage;
}

export function reviewOf(page: ReviewPage): Review {
  if (page.kind !== "review") throw new Error("the link asks for a code first");
  return page.review;
}

/** The digest of what the page shows, as its script computes it. */
export function digestOfReview(review: Review): string {
  return hash("sha256", shownText(review), "hex");
}

export type Choice = {
  verdict: "approve" | "reject";
  note?: string;
  code?: string;
  /** The exact JSON text. */
  edit?: string;
};

/** The body of a decision about what the page shows, with the edit spliced in as it is. */
export function decisionBody(review: Review, { verdict, note, code, edit }: Choice): string {
  const place = placeShown(review.voting) ?? undefined;
  const { ticket } = review;
  const fields = { verdict, digest: digestOfReview(review), ticket, place, note, code };
  const text = JSON.stringify(fields);
  return edit === undefined ? text : `${text.slice(0, -1)},"edit":${edit}}`;
}

export function handOverBody(review: Review, to: string): string {
  const place = placeToHandOver(review.voting) ?? undefined;
  return JSON.stringify({ ticket: review.ticket, to, place });
}

export type ReviewReply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

export async function getReview(
  app: FastifyInstance,
  token: string,
  headers: Record<string, string> = {},
): Promise<ReviewReply> {
  return toReply(await app.inject({ url: `/review/${token}`, headers }));
}

export async function postReview(
  app: FastifyInstance,
  path: string,
  body: string | Buffer | object,
  headers: Record<string, string | string[]> = sameOriginHeaders(),
): Promise<ReviewReply & { json: ReviewErrorBody & ReviewStatus & ReviewPage }> {
  const payload = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const url = `/review/${path}`;
  const reply = toReply(await app.inject({ method: "POST", url, headers, payload }));
  return { ...reply, json: JSON.parse(reply.text) };
}

/** Opens the page, with the code if the choice has one, and decides. */
export async function decide(app: FastifyInstance, token: string, choice: Choice) {
  const review = await openReview(app, token, choice.code);
  return postReview(app, `${token}/decision`, decisionBody(review, choice));
}

export async function openReview(
  app: FastifyInstance,
  token: string,
  code?: string,
): Promise<Review> {
  if (code !== undefined) return reviewOf((await postReview(app, `${token}/open`, { code })).json);
  return reviewOf(reviewDataOf((await getReview(app, token)).text));
}

function toReply(response: {
  statusCode: number;
  headers: Record<string, unknown>;
  body: string;
}): ReviewReply {
  const headers = response.headers as ReviewReply["headers"];
  return { status: response.statusCode, headers, text: response.body };
}
