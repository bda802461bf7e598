// Decisions signed with a passkey: the signature counts for exactly one decision of one person, and where a request needs
// one, nothing else approves it. The authenticator is software; keys, signatures and everything that is checked are real.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, test } from "node:test";
import { parseReviewDecision } from "../src/domain/approval/review-decision.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { decisionStatement } from "../src/domain/shown/decision-statement.ts";
import type { Review } from "../src/wire/review-contract.ts";
import { until } from "./patience.ts";
import { signIn } from "./test-dashboard.ts";
import { callInbox, openPlace } from "./test-inbox.ts";
import type { Bent } from "./test-passkey.ts";
import {
  type Choice,
  decide,
  decisionBody,
  digestOfReview,
  findReviewer,
  openReview,
  postReview,
} from "./test-review.ts";
import { makeWorkspace, minimalBody, startService, testPublicUrl } from "./test-service.ts";
import { enrol, type Signer, sign, signedBody, statementOf } from "./test-signing.ts";
import { makeVoters } from "./test-votes.ts";
import { startWorker } from "./test-worker.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());
const voters = makeVoters(service);
const workspace = await makeWorkspace(db);

const approve: Choice = { verdict: "approve" };
const payload = { amount: 40_000, to: "Acme" };

function somebody(name = "ann"): string {
  return `${name}-${randomUUID().slice(0, 8)}@example.com`;
}

type Asked = { id: string; token: string };

async function ask(email: string, body: object = {}, key = workspace.key): Promise<Asked> {
  const fields = { ...minimalBody, notify: email, payload, requireSignature: true, ...body };
  const reply = await service.call("POST", "/v1/requests", { key, body: fields });
  assert.equal(reply.status, 201, reply.text);
  const { token } = await findReviewer(db, reply.json.id, { email });
  return { id: reply.json.id, token };
}

/** Somebody with a passkey, and a request that only they can approve. */
async function askSigner(body: object = {}): Promise<Asked & Signer & { review: Review }> {
  const email = somebody();
  const asked = await ask(email, body);
  const signer = await enrol(service, email);
  return { ...asked, ...signer, review: await openReview(app, asked.token) };
}

const post = ({ token }: Asked, body: string | object) =>
  postReview(app, `${token}/decision`, body);

async function stateOf({ id }: Pick<Asked, "id">) {
  const { rows } = await db.query("select status, edit from approvals where id = $1", [id]);
  return rows[0];
}

async function evidenceOf({ id }: Pick<Asked, "id">) {
  const { rows } = await db.query(
    "select email, verdict, revision, amr, credential_id, statement from evidence where approval_id = $1 order by voted_at",
    [id],
  );
  return rows;
}

/** Refused in these words, and nothing was decided. */
async function assertRefused(
  asked: Asked,
  reply: { status: number; text: string; json: unknown },
  { code = "signature_refused", words }: { code?: string; words: RegExp },
) {
  const { error } = reply.json as { error: { code: string; message: string } };
  assert.deepEqual([reply.status, error.code], [403, code], reply.text);
  assert.match(error.message, words);
  assert.match(error.message, /Nothing was decided\./);
  assert.equal((await stateOf(asked)).status, "PENDING");
  assert.deepEqual(await evidenceOf(asked), []);
}

describe("a signed decision", () => {
  test("counts by link, and keeps the exact text and what the passkey made of it", async () => {
    const asked = await askSigner({ audience: ["https://payments.example"] });
    const { review, authenticator } = asked;
    assert.deepEqual(review.signing, {
      needed: true,
      rpId: new URL(testPublicUrl).hostname,
      workspace: workspace.id,
      audience: ["https://payments.example"],
      checkpoint: null,
      credentials: [{ id: authenticator.credentialId, transports: ["internal", "hybrid"] }],
    });
    const statement = statementOf(review, approve);
    const reply = await post(asked, signedBody(review, approve, sign(authenticator, statement)));
    assert.equal(reply.status, 200, reply.text);
    assert.equal((await stateOf(asked)).status, "APPROVED");
    assert.deepEqual(await evidenceOf(asked), [
      {
        ...{ email: asked.email, verdict: "approve", revision: 1, amr: ["mail", "passkey"] },
        credential_id: authenticator.credentialId,
        statement: decisionStatement(statement),
      },
    ]);
  });

  test("counts in the inbox, and says once that it was a passkey", async () => {
    const asked = await askSigner({ payload: undefined });
    const { cookie, authenticator } = asked;
    const { json } = await callInbox(service, "GET /list", { cookie });
    const { id } = json.waiting[0];
    const review = await openPlace(service, cookie, id);
    const signed = sign(authenticator, statementOf(review, approve));
    const body = signedBody(review, approve, signed);
    const reply = await callInbox(service, `POST /reviews/${id}/decision`, { cookie, body });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual((await evidenceOf(asked))[0]?.amr, ["session", "passkey"]);
  });

  test("binds the edit: what is executed is what was signed", async () => {
    const asked = await askSigner();
    const { review, authenticator } = asked;
    const edited: Choice = { verdict: "approve", edit: '{"amount": 9007199254740993}' };
    const signed = sign(authenticator, statementOf(review, edited));
    const reply = await post(asked, signedBody(review, edited, signed));
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(await stateOf(asked), { status: "APPROVED", edit: edited.edit });
  });

  test("may be a rejection, and counts where no signature is needed", async () => {
    for (const verdict of ["approve", "reject"] as const) {
      const asked = await askSigner({ requireSignature: undefined });
      const { review, authenticator } = asked;
      assert.equal(review.signing?.needed, false);
      const signed = sign(authenticator, statementOf(review, { verdict }));
      const reply = await post(asked, signedBody(review, { verdict }, signed));
      assert.equal(reply.status, 200, reply.text);
      assert.equal((await evidenceOf(asked))[0]?.credential_id, authenticator.credentialId);
    }
  });

  test("names the log's newest checkpoint, or one that was newest within a day", async () => {
    const own = await makeWorkspace(db);
    const email = somebody();
    const none = await ask(email, {}, own.key);
    const later = await ask(email, {}, own.key);
    const last = await ask(email, {}, own.key);
    const tooOld = await ask(email, {}, own.key);
    const { authenticator } = await enrol(service, email);
    const decideOn = async (asked: Asked, review: Review) => {
      const signed = sign(authenticator, statementOf(review, approve));
      return post(asked, signedBody(review, approve, signed));
    };
    const withNone = await openReview(app, none.token);
    assert.equal(withNone.signing?.checkpoint, null);
    const bodies = await sealLog(own.id, [3, 5]);
    assert.equal((await decideOn(none, withNone)).status, 200, "the first one is younger");
    const review = await openReview(app, later.token);
    assert.equal(review.signing?.checkpoint, bodies[1]);
    await agoTwoDays(own.id, 3);
    const naming = (review: Review, checkpoint: string | null) => ({
      ...review,
      signing: { ...signingOf(review), checkpoint },
    });
    const lastReview = naming(await openReview(app, last.token), bodies[0] ?? null);
    assert.equal((await decideOn(last, lastReview)).status, 200, "newest until just now");
    const old = await openReview(app, tooOld.token);
    await agoTwoDays(own.id, 5);
    for (const checkpoint of [
      bodies[0] as string,
      null,
      `${bodies[1]}x`,
      // Without the root, which is what a checkpoint is about; and without its last newline.
      (bodies[1] as string).split("\n").slice(0, 2).join("\n"),
      (bodies[1] as string).slice(0, -1),
      "made up\n5\nroot\n",
      "\n99999999999999999999\n",
    ]) {
      const reply = await decideOn(tooOld, naming(old, checkpoint));
      await assertRefused(tooOld, reply, {
        words: /state of the log .* more than a day old, or unknown/,
      });
    }
    assert.equal((await decideOn(later, review)).status, 200, "still the newest");
  });
});

test("a checkpoint of the real log is signed, and so is none after a restore", async () => {
  const own = await makeWorkspace(db);
  const email = somebody();
  const [first, second] = [await ask(email, {}, own.key), await ask(email, {}, own.key)];
  const { authenticator } = await enrol(service, email);
  const { worker, stop } = startWorker(service.database);
  worker.wake();
  await until(async () => {
    const { rowCount } = await db.query(
      `select from log_checkpoints c join log_trees t on t.id = c.tree_id where t.workspace_id = $1`,
      [own.id],
    );
    return (rowCount ?? 0) > 0;
  }, "the log has a checkpoint");
  const review = await openReview(app, first.token);
  await stop();
  const { checkpoint } = signingOf(review);
  assert.match(checkpoint ?? "", new RegExp(`/log/${own.id}\\n[1-9][0-9]*\\n[\\w+/]{43}=\\n$`));
  const decideOn = (asked: Asked, opened: Review) =>
    post(asked, signedBody(opened, approve, sign(authenticator, statementOf(opened, approve))));
  assert.equal((await decideOn(first, review)).status, 200);
  await db.query(
    `update log_checkpoints set signed_at = now() - interval '2 days'
     where tree_id in (select id from log_trees where workspace_id = $1)`,
    [own.id],
  );
  await db.query("update log_trees set closed_at = now_ms() where workspace_id = $1", [own.id]);
  const restored = await openReview(app, second.token);
  assert.equal(signingOf(restored).checkpoint, null);
  assert.equal((await decideOn(second, restored)).status, 200);
});

describe("a signature counts for one decision of one person", () => {
  const refusals: [string, RegExp, (asked: Asked & Signer & { review: Review }) => unknown][] = [
    [
      "the other verdict",
      /for the other verdict/,
      ({ review, authenticator }) =>
        sign(authenticator, statementOf(review, { verdict: "reject" })),
    ],
    [
      "another edit",
      /for another edit/,
      ({ review, authenticator }) =>
        sign(authenticator, statementOf(review, { ...approve, edit: '{"amount":1}' })),
    ],
    [
      "another revision",
      /earlier or later text/,
      ({ review, authenticator }) =>
        sign(authenticator, { ...statementOf(review, approve), revision: 2 }),
    ],
    [
      "another workspace",
      /another workspace/,
      ({ review, authenticator }) =>
        sign(authenticator, { ...statementOf(review, approve), workspace: "ws_other" }),
    ],
    [
      "another audience",
      /other receivers/,
      ({ review, authenticator }) =>
        sign(authenticator, {
          ...statementOf(review, approve),
          audience: ["https://evil.example"],
        }),
    ],
    [
      "another expiry",
      /another end/,
      ({ review, authenticator }) =>
        sign(authenticator, {
          ...statementOf(review, approve),
          expires: "2099-01-01T00:00:00.000Z",
        }),
    ],
    [
      "other content on the page",
      /showed something else/,
      ({ review, authenticator }) =>
        sign(authenticator, statementOf({ ...review, summary: "Pay nothing" }, approve)),
    ],
    [
      "another payload",
      /for another payload/,
      ({ review, authenticator }) =>
        sign(authenticator, statementOf({ ...review, payload: '{"amount":1}' }, approve)),
    ],
    [
      "a checkpoint that no database keeps",
      /isn’t written as this page writes it/,
      ({ review, authenticator }) =>
        sign(authenticator, { ...statementOf(review, approve), checkpoint: "a\0" }),
    ],
    [
      "more white space",
      /isn’t written as this page writes it/,
      ({ review, authenticator }) =>
        sign(authenticator, `${decisionStatement(statementOf(review, approve))} `),
    ],
    [
      "another order",
      /isn’t written as this page writes it/,
      ({ review, authenticator }) => {
        const parts = Object.entries(statementOf(review, approve)).toReversed();
        return sign(authenticator, JSON.stringify(Object.fromEntries(parts)));
      },
    ],
    [
      "a statement swapped after the signing",
      /signed another text/,
      ({ review, authenticator }) => {
        const signed = sign(authenticator, statementOf(review, { verdict: "reject" }));
        return { ...signed, statement: decisionStatement(statementOf(review, approve)) };
      },
    ],
    [
      "a passkey that nobody has",
      /isn’t known here/,
      ({ review, authenticator }) => ({
        ...sign(authenticator, statementOf(review, approve)),
        credentialId: "AAAA",
      }),
    ],
    [
      "a key that claims to be theirs",
      /The signature is wrong/,
      ({ review, authenticator }) => sign(authenticator.forged(), statementOf(review, approve)),
    ],
  ];
  for (const [why, words, make] of refusals) {
    test(`${why}: refused with its reason`, async () => {
      const asked = await askSigner();
      const reply = await post(asked, signedBody(asked.review, approve, make(asked)));
      await assertRefused(asked, reply, { words });
      const right = sign(asked.authenticator, statementOf(asked.review, approve));
      const again = await post(asked, signedBody(asked.review, approve, right));
      assert.equal(again.status, 200, "and the right one counts afterwards");
    });
  }

  const bends: [string, RegExp, Bent][] = [
    ["no user verification", /didn’t check who used it/, { isUserVerified: false }],
    ["another origin", /on another site/, { origin: "https://evil.example" }],
    ["another scheme", /on another site/, { origin: testPublicUrl.replace("https", "http") }],
    ["another relying party", /on another site/, { rpId: "evil.example" }],
    ["another challenge", /signed another text/, { challenge: "A".repeat(43) }],
  ];
  test("an assertion without user verification, or of another site, is refused", async () => {
    const asked = await askSigner();
    for (const [why, words, bent] of bends) {
      const signed = sign(asked.authenticator, statementOf(asked.review, approve), bent);
      const reply = await post(asked, signedBody(asked.review, approve, signed));
      await assertRefused(asked, reply, { words }).catch((fault) => {
        throw new Error(why, { cause: fault });
      });
    }
  });

  test("the signature of another request is refused, whichever parts of the body go with it", async () => {
    const email = somebody();
    const [one, other] = [await ask(email), await ask(email)];
    const { authenticator } = await enrol(service, email);
    const review = await openReview(app, one.token);
    const signed = sign(authenticator, statementOf(review, approve));
    const otherReview = await openReview(app, other.token);
    const words = /for another request/;
    await assertRefused(other, await post(other, signedBody(otherReview, approve, signed)), {
      words,
    });
    // The whole body of one request at the other's address: it is about another link's page.
    const moved = await post(other, signedBody(review, approve, signed));
    assert.deepEqual([moved.status, moved.json.error.code], [409, "stale_view"]);
    assert.equal((await stateOf(other)).status, "PENDING");
  });

  test("somebody else's passkey signs nothing, in whoever's place", async () => {
    const [ann, eve] = [await askSigner(), await askSigner()];
    const signed = sign(eve.authenticator, statementOf(ann.review, approve));
    const reply = await post(ann, signedBody(ann.review, approve, signed));
    await assertRefused(ann, reply, { words: /belongs to somebody else/ });
  });

  test("a replayed signature decides nothing again", async () => {
    const { key } = await voters.workspaceWith();
    const { id } = await voters.ask(key, { quorum: 2, requireSignature: true });
    const { authenticator } = await enrol(service, "ann@example.com");
    const { token } = await findReviewer(db, id, { email: "ann@example.com" });
    const review = await openReview(app, token);
    const asked = { id, token };
    const body = signedBody(review, approve, sign(authenticator, statementOf(review, approve)));
    // The counter keeps even a vote that was not counted from being sent twice.
    const replies = await Promise.all([post(asked, body), post(asked, body), post(asked, body)]);
    assert.equal(replies.filter(({ status }) => status === 200).length, 1);
    const again = await post(asked, body);
    assert.deepEqual([again.status, again.json.error.code], [403, "signature_refused"]);
    assert.match(again.json.error.message, /was used before/);
    assert.doesNotMatch(again.json.error.message, /Nothing was decided/, "its twin was counted");
    assert.equal((await evidenceOf(asked)).length, 1);
  });

  test("a replayed signature of a passkey that doesn't count decides nothing again either", async () => {
    const { key } = await voters.workspaceWith();
    const { id } = await voters.ask(key, { quorum: 2, requireSignature: true });
    const { authenticator } = await enrol(service, "bob@example.com");
    const { token } = await findReviewer(db, id, { email: "bob@example.com" });
    const review = await openReview(app, token);
    const asked = { id, token };
    const signed = sign(authenticator, statementOf(review, approve), { counter: 0 });
    const body = signedBody(review, approve, signed);
    const replies = await Promise.all([post(asked, body), post(asked, body)]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409]);
    assert.equal((await post(asked, body)).json.error.code, "vote_refused");
    assert.equal((await evidenceOf(asked)).length, 1);
  });

  test("a removed passkey signs nothing any more", async () => {
    const asked = await askSigner();
    const signed = sign(asked.authenticator, statementOf(asked.review, approve));
    await db.query("delete from passkeys where credential_id = $1", [signed.credentialId]);
    const reply = await post(asked, signedBody(asked.review, approve, signed));
    await assertRefused(asked, reply, { words: /isn’t known here/ });
  });

  test("a wrong signature is refused even where none is needed", async () => {
    const asked = await askSigner({ requireSignature: undefined });
    const signed = sign(asked.authenticator, statementOf(asked.review, { verdict: "reject" }));
    const reply = await post(asked, signedBody(asked.review, approve, signed));
    await assertRefused(asked, reply, { words: /for the other verdict/ });
  });
});

describe("where a signature is needed", () => {
  const required = { code: "signature_required", words: /only be approved with a passkey/ };

  test("a link alone rejects, and never approves", async () => {
    const email = somebody();
    const asked = await ask(email);
    const review = await openReview(app, asked.token);
    assert.deepEqual([review.signing?.needed, review.signing?.credentials], [true, []]);
    await assertRefused(asked, await decide(app, asked.token, approve), required);
    assert.equal((await decide(app, asked.token, { verdict: "reject" })).status, 200);
    assert.equal((await stateOf(asked)).status, "REJECTED");
  });

  test("neither the inbox nor several decisions at once approve without one", async () => {
    const email = somebody();
    const asked = await ask(email);
    const cookie = await signIn(service, email);
    const { json } = await callInbox(service, "GET /list", { cookie });
    const { id } = json.waiting[0];
    const review = await openPlace(service, cookie, id);
    const body = decisionBody(review, approve);
    const one = await callInbox(service, `POST /reviews/${id}/decision`, { cookie, body });
    await assertRefused(asked, one, required);
    const decisions = [{ id, digest: digestOfReview(review), ticket: review.ticket }];
    const several = await callInbox(service, "POST /decisions", {
      cookie,
      body: { verdict: "approve", decisions },
    });
    assert.equal(several.json.results[0].problem.error.code, "signature_required");
    assert.equal((await stateOf(asked)).status, "PENDING");
  });

  test("each vote that counts is signed, by each voter's own passkey, for the text that they saw", async () => {
    const emails = [somebody("ann"), somebody("bob")];
    const { key } = await voters.workspaceWith(emails);
    const { id } = await voters.ask(key, { quorum: 2, requireSignature: true });
    const [ann, bob] = await Promise.all(emails.map((email) => enrol(service, email)));
    assert.ok(ann && bob);
    const voteOf = async (signer: Signer, choice: Choice, isSigned = true) => {
      const { token } = await findReviewer(db, id, { email: signer.email });
      const review = await openReview(app, token);
      const signed = isSigned ? sign(signer.authenticator, statementOf(review, choice)) : null;
      return post({ id, token }, signedBody(review, choice, signed));
    };
    const unsigned = await voteOf(ann, approve, false);
    assert.equal(unsigned.json.error.code, "signature_required");
    const edit = '{"amount": 7}';
    assert.equal((await voteOf(ann, { ...approve, edit })).status, 200);
    const last = await voteOf(bob, approve);
    assert.equal(last.status, 200, last.text);
    assert.deepEqual(await stateOf({ id }), { status: "APPROVED", edit });
    const [first, second] = (await evidenceOf({ id })).map(({ statement }) =>
      JSON.parse(statement),
    );
    assert.deepEqual([first.revision, second.revision], [1, 2]);
    assert.equal(first.effective, second.effective, "both signed the text that is executed");
    assert.equal(first.payload, second.payload);
    assert.notEqual(second.effective, second.payload);
  });

  test("whatever is posted, no link approves in a workspace that requires signatures", async () => {
    const strict = await makeWorkspace(db);
    await db.query("update workspaces set requires_signature = true where id = $1", [strict.id]);
    const [ann, eve] = [somebody(), somebody("eve")];
    const asked = await ask(ann, { requireSignature: undefined }, strict.key);
    await ask(eve);
    const { authenticator } = await enrol(service, eve);
    const review = await openReview(app, asked.token);
    let seed = 22;
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const pick = <Item>(items: readonly Item[]): Item => items[next(items.length)] as Item;
    const real = sign(authenticator, statementOf(review, approve));
    const values = [
      null,
      "",
      0,
      true,
      [],
      {},
      "AAAA",
      "null",
      [real],
      { ...real, statement: "{}" },
    ];
    const seen = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      const signed = { ...real, [pick(Object.keys(real))]: pick(values) };
      const fields = JSON.parse(decisionBody(review, approve));
      const extra = pick([
        { signed },
        { signed: pick(values) },
        { signed: real },
        { needsSignature: false, requireSignature: false, needed: false },
        { signing: { needed: false }, via: "slack", amr: ["passkey"] },
        { evidence: { signed }, signature: real.signature, credentialId: real.credentialId },
        { edit: pick([{ amount: 1 }, 7, "x"]), signed },
        { Signed: real, "signed ": real, verdict: "approve" },
      ]);
      const reply = await post(asked, JSON.stringify({ ...fields, ...extra }));
      seen.add(`${reply.status} ${reply.json.error.code}`);
    }
    // Two members of one name, of which a careless reader might check one and use the other.
    const twice = decisionBody(review, approve).replace("{", '{"verdict":"reject",');
    assert.equal((await post(asked, twice)).status, 400);
    assert.deepEqual([...seen].sort(), [
      "400 validation_error",
      "403 signature_refused",
      "403 signature_required",
    ]);
    assert.equal((await stateOf(asked)).status, "PENDING");
    assert.deepEqual(await evidenceOf(asked), []);
  });

  test("the database refuses an approval of which one vote has no signature", async () => {
    const emails = [somebody("ann"), somebody("bob")];
    const { key } = await voters.workspaceWith(emails);
    const { id } = await voters.ask(key, { quorum: 2 });
    const [ann = "", bob = ""] = emails;
    assert.equal((await voters.vote(id, ann)).status, 200);
    // As if a fault of the service had let the first vote through.
    await db.query("update approvals set needs_signature = true where id = $1", [id]);
    const { authenticator } = await enrol(service, bob);
    const { token } = await findReviewer(db, id, { email: bob });
    const review = await openReview(app, token);
    const signed = sign(authenticator, statementOf(review, approve));
    const reply = await post({ id, token }, signedBody(review, approve, signed));
    assert.equal(reply.status, 500, reply.text);
    assert.equal((await stateOf({ id })).status, "PENDING");
    assert.deepEqual(
      (await evidenceOf({ id })).map(({ email }) => email),
      [ann],
    );
  });

  test("the database refuses an approval without a signature for each vote, and takes other ends", async () => {
    const asked = await askSigner();
    const { id, email } = asked;
    const resolve = (status: string) =>
      db.query(
        `update approvals set status = $2, resolved_at = now_ms(), resolved_by_email = $3 where id = $1`,
        [id, status, status === "APPROVED" || status === "REJECTED" ? email : null],
      );
    await assert.rejects(resolve("APPROVED"), /needs signatures/);
    // Evidence of somebody else, or without a signature, is none.
    const insert = (voter: string, isSigned: boolean) =>
      `insert into evidence (workspace_id, approval_id, revision, voter, email, verdict, voted_at, shown_version,
         shown_digest, amr, credential_id, statement, authenticator_data, client_data, signature)
       select workspace_id, id, 1, '${voter}', '${voter}', 'approve', now_ms(), 2, sha256('x'), '{mail}',
         ${isSigned ? "'c', 's', 'a', 'd', 'g'" : "null, null, null, null, null"}
       from approvals where id = '${id}'`;
    const approveWith = (evidence: string) =>
      db.query(
        `with added as (${evidence})
         update approvals set status = 'APPROVED', resolved_at = now_ms(), resolved_by_email = $2 where id = $1`,
        [id, email],
      );
    await assert.rejects(approveWith(insert(email, false)), /needs signatures/);
    await assert.rejects(approveWith(insert("eve@example.com", true)), /needs signatures/);
    assert.equal((await stateOf(asked)).status, "PENDING");
    assert.deepEqual(await evidenceOf(asked), [], "the evidence went with the refused statement");
    await resolve("REJECTED");
    assert.equal((await stateOf(asked)).status, "REJECTED");
  });
});

test("a review of somebody without passkeys offers no signing, and its page may not ask for any", async () => {
  const email = somebody();
  const plain = await ask(email, { requireSignature: undefined });
  const before = await app.inject({ url: `/review/${plain.token}` });
  assert.ok(!before.body.includes("signing"));
  assert.match(String(before.headers["permissions-policy"]), /publickey-credentials-get=\(\)/);
  await enrol(service, email);
  const { headers } = await app.inject({ url: `/review/${plain.token}` });
  const policy = String(headers["permissions-policy"]);
  assert.doesNotMatch(policy, /publickey-credentials-get/);
  assert.match(policy, /publickey-credentials-create=\(\)/, "a link never adds a passkey");
});

test("a link with a code offers signing after the code, and may ask for a passkey from the start", async () => {
  const email = somebody();
  const asked = await ask(email);
  await db.query("update reviewers set needs_code = true where approval_id = $1", [asked.id]);
  const { authenticator } = await enrol(service, email);
  const before = await app.inject({ url: `/review/${asked.token}` });
  assert.ok(!before.body.includes(authenticator.credentialId), "nothing is told before the code");
  assert.doesNotMatch(String(before.headers["permissions-policy"]), /publickey-credentials-get/);
  const { code } = await findReviewer(db, asked.id, { email });
  const review = await openReview(app, asked.token, code);
  const choice = { ...approve, code };
  const signed = sign(authenticator, statementOf(review, choice));
  const wrong = await post(asked, signedBody(review, { ...choice, code: "000000" }, signed));
  assert.equal(wrong.json.error.code, "wrong_code", "a passkey doesn't replace the code");
  assert.equal((await post(asked, signedBody(review, choice, signed))).status, 200);
  assert.deepEqual((await evidenceOf(asked))[0]?.amr, ["mail", "code", "passkey"]);
});

test("a passkey is never added by a link, whatever it posts", async () => {
  const asked = await ask(somebody());
  for (const path of ["passkeys/begin", "me/passkeys/begin", "passkeys"]) {
    assert.equal((await postReview(app, `${asked.token}/${path}`, {})).status, 404, path);
  }
});

test("a signed part that can't be read is refused, and never taken for none", () => {
  const digest = "0".repeat(64);
  const flawed = ["1", '"x"', "[]", "{}", '{"credentialId":"a"}', '{"statement":1}', "true"];
  for (const signed of flawed) {
    const body = `{"verdict":"approve","digest":"${digest}","ticket":"t","signed":${signed}}`;
    const parsed = parseReviewDecision(Buffer.from(body));
    assert.ok(isRefusal(parsed) && /^signed: /.test(parsed.message), signed);
  }
});

function signingOf({ signing }: Review) {
  assert.ok(signing !== undefined);
  return signing;
}

/** Checkpoints of a workspace's log with these sizes, signed just now. Answers their bodies. */
async function sealLog(workspaceId: string, sizes: readonly number[]): Promise<string[]> {
  const tree = `example.com/log/${workspaceId}`;
  await db.query(
    `insert into signing_keys (id, public_key, secret_key_id, sealed, retired_at)
     values ('test', sha256('k'), 'test', 'x', now_ms()) on conflict do nothing`,
  );
  const { rows } = await db.query<{ id: number }>(
    `insert into log_trees (workspace_id, origin, home, root) values ($1, $2, 'here', sha256(''))
     returning id`,
    [workspaceId, tree],
  );
  const bodies = sizes.map((size) => `${tree}\n${size}\nroot${size}\n`);
  for (const [at, body] of bodies.entries()) {
    await db.query(
      `insert into log_checkpoints (tree_id, size, note, signing_key_id) values ($1, $2, $3, 'test')`,
      [rows[0]?.id, sizes[at], `${body}\n— ${tree} ${Buffer.alloc(68, 1).toString("base64")}\n`],
    );
  }
  return bodies;
}

async function agoTwoDays(workspaceId: string, size: number): Promise<void> {
  await db.query(
    `update log_checkpoints set signed_at = now() - interval '2 days'
     where size = $2 and tree_id in (select id from log_trees where workspace_id = $1)`,
    [workspaceId, size],
  );
}
