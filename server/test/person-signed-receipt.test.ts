import assert from "node:assert/strict";
import { after, test } from "node:test";
import { receipts } from "../../sdk/src/proof/proof.ts";
import { sequenceAll } from "./log-audit.ts";
import { findReviewer, openReview, postReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService, testPublicUrl } from "./test-service.ts";
import { enrol, sign, signedBody, statementOf } from "./test-signing.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());

const payload = '{"amount":9007199254740993,"to":"Acme"}';
const edit = '{"amount":9007199254740992,"to":"Acme"}';

test("an executor checks a person's signature and edit with the key that the log has, and trusts nobody else", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const audience = ["https://payments.example"];
  const email = "ann@example.com";
  const fields = { ...minimalBody, notify: email, requireSignature: true, audience };
  const body = `${JSON.stringify(fields).slice(0, -1)},"payload":${payload}}`;
  const asked = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(asked.status, 201, asked.text);
  const { id } = asked.json;
  const { token } = await findReviewer(db, id, { email });
  const { authenticator } = await enrol(service, email);
  const review = await openReview(app, token);
  const choice = { verdict: "approve", edit } as const;
  const signed = sign(authenticator, statementOf(review, choice));
  const reply = await postReview(app, `${token}/decision`, signedBody(review, choice, signed));
  assert.equal(reply.status, 200, reply.text);
  await sequenceAll(db);
  const read = async (path: string) =>
    (await app.inject({ url: path, headers: { authorization: `Bearer ${key}` } })).body;
  const { rows } = await db.query<{ fact: string }>(
    `select fact from log_openings where approval_id = $1 and fact like '{"kind":"request.approved"%'`,
    [id],
  );
  const [vote] = JSON.parse(rows[0]?.fact ?? "{}").votes;
  const publicKey: string = vote.evidence.signed.publicKey;
  const receipt = await read(`/v1/requests/${id}/receipt`);
  const options = {
    jwks: JSON.parse(await read("/.well-known/jwks.json")),
    issuer: testPublicUrl,
    audience: "https://payments.example",
    proof: await read(`/v1/requests/${id}/log-proof`),
    credentials: [{ id: authenticator.credentialId, email, publicKey }],
  };
  const good = await receipts.verify(receipt, { ...options, payload: edit });
  assert.ok(good.ok, JSON.stringify(good));
  assert.equal(good.level, "person-signed");
  const other = await receipts.verify(receipt, { ...options, payload });
  assert.equal(!other.ok && other.reason, "payload_differs");
  const stranger = [{ ...options.credentials[0], id: "c3RyYW5nZXI", email, publicKey }];
  const unknown = await receipts.verify(receipt, { ...options, credentials: stranger });
  assert.equal(!unknown.ok && unknown.reason, "credential_unknown");
  assert.match(workspaceId, /^ws_/);
});
