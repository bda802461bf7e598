// Somebody at their inbox: signs in, and calls as its page does.

import type { Review, ReviewPage } from "../src/wire/review-contract.ts";
import { fromOurPage } from "./test-dashboard.ts";
import { digestOfReview } from "./test-review.ts";
import type { TestNode } from "./test-service.ts";

export type InboxReply = {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape the contract's types describe
  json: any;
};

export type InboxCallOptions = {
  cookie?: string;
  body?: unknown;
  headers?: Record<string, string>;
};

/** `name` is the method and the path below /inbox/api. */
export async function callInbox(
  { app }: Pick<TestNode, "app">,
  name: string,
  { cookie, body, headers = fromOurPage }: InboxCallOptions = {},
): Promise<InboxReply> {
  const [method = "GET", path = ""] = name.split(" ");
  const payload = typeof body === "string" ? body : JSON.stringify(body ?? {});
  const reply = await app.inject({
    method: method as "GET",
    url: `/inbox/api${path}`,
    headers: { ...headers, ...(cookie === undefined ? {} : { cookie }) },
    ...(method === "POST" ? { payload } : {}),
  });
  return {
    status: reply.statusCode,
    headers: reply.headers as Record<string, string>,
    text: reply.body,
    json: reply.body.startsWith("{") ? reply.json() : null,
  };
}

/** The request as the inbox shows it. */
export async function openPlace(
  node: Pick<TestNode, "app">,
  cookie: string,
  id: string,
): Promise<Review> {
  const { status, json, text } = await callInbox(node, `POST /reviews/${id}/open`, { cookie });
  if (status !== 200) throw new Error(text);
  return (json as ReviewPage & { kind: "review" }).review;
}

/** Opens it and decides. */
export async function decideInInbox(
  node: Pick<TestNode, "app">,
  cookie: string,
  { id, verdict }: { id: string; verdict: "approve" | "reject" },
): Promise<InboxReply> {
  const review = await openPlace(node, cookie, id);
  const body = { verdict, digest: digestOfReview(review), ticket: review.ticket };
  return callInbox(node, `POST /reviews/${id}/decision`, { cookie, body });
}
