// People who vote under test: a workspace with a group of finance, requests that ask it, and what each person can do by
// their own link.

import assert from "node:assert/strict";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { Sweeper } from "../src/worker/sweeper.ts";
import {
  type Choice,
  decide,
  findReviewer,
  handOverBody,
  openReview,
  postReview,
} from "./test-review.ts";
import { makeWorkspace, type TestNode, testKeyring } from "./test-service.ts";

export const payment = {
  summary: "Pay 40,000",
  notify: "group:finance",
  payload: { amount: 40000 },
};

export function makeVoters(service: TestNode) {
  const { db, app } = service;

  async function workspaceWith(
    members: readonly string[] = ["ann@example.com", "bob@example.com", "cy@example.com"],
  ) {
    const workspace = await makeWorkspace(db, { name: "Acme" });
    const group = await createGroup(db, {
      ...{ workspaceId: workspace.id, key: "finance", name: "Finance" },
      members: [...members],
    });
    assert.ok(!isRefusal(group), JSON.stringify(group));
    return { ...workspace, groupId: group.id };
  }

  async function ask(key: string, body: object = {}) {
    const fields = { ...payment, ...body };
    const reply = await service.call("POST", "/v1/requests", { key, body: fields });
    assert.equal(reply.status, 201, reply.text);
    return reply.json;
  }

  async function vote(id: string, email: string, choice: Partial<Choice> = {}) {
    const { token } = await findReviewer(db, id, { email });
    return decide(app, token, { verdict: "approve", ...choice });
  }

  async function read(key: string, id: string) {
    return (await service.call("GET", `/v1/requests/${id}`, { key })).json;
  }

  async function sweep() {
    const faults: unknown[] = [];
    const sweeper = new Sweeper({
      ...{ db, keyring: testKeyring, onDue: () => {} },
      onFault: (fault) => faults.push(fault),
    });
    sweeper.sweep();
    await sweeper.stop();
    assert.deepEqual(faults, []);
  }

  /** Who is mailed because of events of a kind. */
  async function mailsOf(id: string, kind: string): Promise<string[]> {
    const { rows } = await db.query<{ email: string }>(
      `select r.email from events ev
       join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id
       join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where ev.approval_id = $1 and ev.kind = $2 order by r.email`,
      [id, kind],
    );
    return rows.map(({ email }) => email);
  }

  async function passOn(id: string, from: string, to: string) {
    const { token } = await findReviewer(db, id, { email: from });
    const review = await openReview(app, token);
    return postReview(app, `${token}/hand-over`, handOverBody(review, to));
  }

  async function beAway(workspaceId: string, email: string, delegate: string) {
    await db.query(
      `with absence as (
         insert into absences (workspace_id, person, email, delegate_email, starts_at, ends_at)
         values ($1, person_of($2), $2, $3, now_ms() - interval '1 minute', now_ms() + interval '1 day')
       )
       update workspaces set absences_until = now_ms() + interval '1 day' where id = $1`,
      [workspaceId, email, delegate],
    );
  }

  return { workspaceWith, ask, vote, read, sweep, mailsOf, passOn, beAway };
}
