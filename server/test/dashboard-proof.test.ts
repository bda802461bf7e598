// The proof of a decision on the dashboard: what members read of it, and that the page's own check, run here with the real
// answers of the service, finds each thing that was changed.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Check, Given } from "../../web/src/dashboard/requests/proof/check.ts";
import { checkProof } from "../../web/src/dashboard/requests/proof/check-proof.ts";
import type { RequestProof } from "../src/wire/dashboard-proof.ts";
import { sequenceAll } from "./log-audit.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { type Choice, decide, findReviewer, openReview, postReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService, testPublicUrl } from "./test-service.ts";
import { enrol, sign, signedBody, statementOf } from "./test-signing.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());
const workspace = await makeWorkspace(db);
await makeMember(db, { workspaceId: workspace.id, email: "vic@example.com", role: "viewer" });
const viewer = await signIn(service, "vic@example.com");

async function ask(email: string, body: object = {}): Promise<{ id: string; token: string }> {
  const fields = { ...minimalBody, notify: email, payload: { amount: 40 }, ...body };
  const { key } = workspace;
  const { json } = await service.call("POST", "/v1/requests", { key, body: fields });
  return { id: json.id, token: (await findReviewer(db, json.id, { email })).token };
}

async function read(requestId: string, part: "" | "/proof") {
  const name = `GET /workspaces/:workspaceId/requests/:requestId${part}` as const;
  const params = { workspaceId: workspace.id, requestId };
  const { status, json } = await callDashboard(service, name, { cookie: viewer, params });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

const readProof = (requestId: string): Promise<RequestProof> => read(requestId, "/proof");

/** As the page has it. */
async function readGiven(requestId: string): Promise<Given> {
  const request = await read(requestId, "");
  const proof = await readProof(requestId);
  return {
    ...{ workspaceId: workspace.id, issuer: testPublicUrl, nowMs: Date.now() },
    ...{ request, proof },
  };
}

async function decided(choice: Choice, body: object = {}): Promise<Given> {
  const { id, token } = await ask("ann@example.com", body);
  assert.equal((await decide(app, token, choice)).status, 200);
  // Twice: the first one's checkpoint is a fact of the installation's log.
  await sequenceAll(db);
  await sequenceAll(db);
  return readGiven(id);
}

async function signedBySue(): Promise<Given & { credentialId: string }> {
  const email = "sue@example.com";
  const { id, token } = await ask(email, { requireSignature: true });
  const { authenticator } = await enrol(service, email);
  const review = await openReview(app, token);
  const signed = sign(authenticator, statementOf(review, { verdict: "approve" }));
  const body = signedBody(review, { verdict: "approve" }, signed);
  const reply = await postReview(app, `${token}/decision`, body);
  assert.equal(reply.status, 200, reply.text);
  await sequenceAll(db);
  await sequenceAll(db);
  return { ...(await readGiven(id)), credentialId: authenticator.credentialId };
}

const titles = (checks: Check[], state: Check["state"]) =>
  checks.filter((each) => each.state === state).map(({ title }) => title);

test("members read the evidence of each vote, and nobody's before there is a vote", async () => {
  const { id, token } = await ask("ann@example.com");
  const before = await readGiven(id);
  assert.deepEqual([before.request.evidence, before.proof.receipt], [undefined, null]);
  assert.equal((await decide(app, token, { verdict: "approve" })).status, 200);
  const { request, proof } = await readGiven(id);
  const { credentials, receipt } = proof;
  const { evidence = [] } = request;
  assert.equal(evidence.length, 1);
  const [vote] = evidence;
  assert.equal(vote?.email, "ann@example.com");
  assert.deepEqual([vote?.verdict, vote?.amr, vote?.revision], ["approve", ["mail"], 1]);
  assert.equal(vote?.shown.v, 2);
  assert.equal(Buffer.from(vote?.shown.digest ?? "", "base64url").length, 32);
  assert.ok((vote?.openMs ?? -1) >= 0);
  assert.deepEqual(credentials, []);
  assert.equal(receipt?.split(".").length, 3);
});

describe("the check on the request's page", () => {
  test("fits for what nobody changed, and says what it could not check", async () => {
    const given = await decided({ verdict: "approve", edit: '{"amount": 39.10}' });
    const checks = await checkProof(given);
    assert.deepEqual(titles(checks, "wrong"), [], JSON.stringify(checks, null, 1));
    assert.deepEqual(titles(checks, "open"), ["Signature of ann@example.com", "Witnesses"]);
    assert.deepEqual(titles(checks, "right"), [
      "Receipt’s signature",
      "Receipt is about this decision",
      "Payload that was asked for",
      "Payload that was approved",
      "Who decided",
      "Validity",
      "Entries of the log",
      "Payload in the log",
      "Decision in the log",
      "Evidence in the log",
      "Place in the log",
      "Checkpoint",
      "Installation’s log",
      "Installation’s checkpoint",
    ]);
  });

  test("fits for a rejection, and for a request without a payload", async () => {
    for (const given of [
      await decided({ verdict: "reject" }),
      await decided({ verdict: "approve" }, { payload: undefined }),
    ]) {
      const checks = await checkProof(given);
      assert.deepEqual(titles(checks, "wrong"), [], JSON.stringify(checks, null, 1));
    }
  });

  test("says that the log doesn't have a decision yet", async () => {
    const { id, token } = await ask("ann@example.com");
    await decide(app, token, { verdict: "approve" });
    const checks = await checkProof(await readGiven(id));
    assert.deepEqual(titles(checks, "wrong"), []);
    assert.ok(titles(checks, "open").includes("Log"));
  });

  test("checks a person's signature, and says why it can't once the passkey is gone", async () => {
    const { credentialId, ...given } = await signedBySue();
    const name = "Signature of sue@example.com";
    const checks = await checkProof(given);
    assert.deepEqual(titles(checks, "wrong"), [], JSON.stringify(checks, null, 1));
    assert.ok(titles(checks, "right").includes(name));
    const [own] = given.proof.credentials;
    const other = { ...given.proof, credentials: [{ ...own, publicKey: flip(own?.publicKey) }] };
    const forged = await checkProof({ ...given, proof: other as RequestProof });
    assert.deepEqual(titles(forged, "wrong"), [name]);
    await db.query("delete from passkeys where credential_id = $1", [credentialId]);
    const later = await checkProof(await readGiven(given.request.id));
    assert.deepEqual(titles(later, "wrong"), []);
    assert.ok(titles(later, "open").includes(name));
  });

  test("finds each thing that was changed, and names it", async () => {
    const given = await decided({ verdict: "approve", edit: '{"amount": 39.10}' });
    const { request, proof } = given;
    const { log } = proof;
    assert.ok(log?.proof != null && log.installation !== null && proof.receipt !== null);
    const [vote] = request.evidence ?? [];
    const withLog = (changes: object) => ({
      ...given,
      proof: { ...proof, log: { ...log, ...changes } },
    });
    const withVote = (changes: object) => ({
      ...given,
      request: { ...request, evidence: [{ ...vote, ...changes }] },
    });
    const [header, claims = "", signature] = proof.receipt.split(".");
    const entries = log.entries.map((each) => ({ ...each }));
    const first = entries[0] as (typeof entries)[number];
    const cases: Record<string, [changed: object, wrong: string[]]> = {
      payload: [
        { ...given, request: { ...request, payload: '{"amount":41}' } },
        ["Payload that was asked for", "Payload in the log"],
      ],
      edit: [
        { ...given, request: { ...request, edit: '{"amount": 39.1}' } },
        ["Payload that was approved", "Payload in the log"],
      ],
      outcome: [
        { ...given, request: { ...request, status: "REJECTED" } },
        ["Receipt is about this decision"],
      ],
      request: [
        { ...given, request: { ...request, id: "req_0" } },
        ["Receipt is about this decision", "Entries of the log"],
      ],
      "signature of the receipt": [
        { ...given, proof: { ...proof, receipt: `${header}.${claims}.${flip(signature)}` } },
        ["Receipt’s signature"],
      ],
      "keys of the service": [
        { ...given, proof: { ...proof, jwks: { keys: [], revoked: [] } } },
        ["Receipt’s signature", "Checkpoint", "Installation’s checkpoint"],
      ],
      voter: [withVote({ email: "eve@example.com" }), ["Who decided", "Evidence in the log"]],
      "way in": [withVote({ amr: ["session"] }), ["Who decided", "Evidence in the log"]],
      address: [withVote({ address: "198.51.100.9" }), ["Evidence in the log"]],
      "time open": [withVote({ openMs: 60_000 }), ["Evidence in the log"]],
      "a fact": [
        withLog({
          entries: [{ ...first, fact: first.fact.replace("{", "{ ") }, ...entries.slice(1)],
        }),
        ["Entries of the log"],
      ],
      "an entry": [
        withLog({
          entries: entries.map((each) => ({
            ...each,
            entry: each.entry.replace('"v":1', '"v": 1'),
          })),
        }),
        ["Place in the log"],
      ],
      "the root": [
        withLog({ proof: log.proof.replace(/\n([A-Za-z0-9+/]{43}=)\n\n(?=\u2014)/, flipBase64) }),
        ["Place in the log", "Checkpoint", "Installation’s log"],
      ],
      "the installation's entry": [
        withLog({ installation: { ...log.installation, salt: flip(log.installation.salt) } }),
        ["Installation’s log"],
      ],
      "what the proof carries": [
        withLog({
          proof: log.proof.replace(/(?<=\nextra .{40})./, (one) => (one === "A" ? "B" : "A")),
        }),
        ["Place in the log"],
      ],
      "the origin": [withLog({ origin: `${log.origin}/2` }), ["Checkpoint"]],
      "the installation's fact": [
        withLog({ installation: { ...log.installation, fact: "{}" } }),
        ["Installation’s log"],
      ],
      "no entries": [withLog({ entries: undefined }), ["Log"]],
      "no proof at all": [withLog({ proof: "nothing" }), ["Log"]],
    };
    for (const [name, [changed, wrong]] of Object.entries(cases)) {
      const checks = await checkProof(changed as Given);
      assert.deepEqual(
        titles(checks, "wrong"),
        wrong,
        `${name}: ${JSON.stringify(checks, null, 1)}`,
      );
    }
  });
});

/** Another text of the same length: its tenth character is replaced. */
function flip(text = ""): string {
  return `${text.slice(0, 10)}${text[10] === "A" ? "B" : "A"}${text.slice(11)}`;
}

function flipBase64(whole: string): string {
  return `\n${flip(whole.slice(1))}`;
}
