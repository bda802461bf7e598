import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { serve } from "../../sdk/test/served.ts";
import { changeKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { updateWorkspace } from "../../server/src/operations/workspaces/manage-workspace.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { callTool, connect, type Way, ways } from "./conversing.ts";

const served = await serve();
after(() => served.stop());

const refund = {
  summary: "Refund order 1042",
  notify: "ann@example.com",
  payload: { orderId: 1042, amount: 49 },
};

/** With a workspace of its own. */
async function converse(context: TestContext, way: Way) {
  const { id: workspaceId, key, keyId } = await makeWorkspace(served.service.db);
  const client = await connect(way, { url: served.url, key });
  context.after(() => client.close());
  const call = (name: string, args: Record<string, unknown>, options = {}) =>
    callTool(client, name, args, options);
  return { client, call, workspaceId, keyId };
}

for (const way of ways) {
  const how = `${way.transport}, ${way.mode}`;

  test(`there are six tools, none of which decides, each with schemas and hints (${how})`, async (context) => {
    const { client } = await converse(context, way);
    const { tools } = await client.listTools();
    const names =
      "request_approval await_decision redeem_request get_request list_pending cancel_request";
    assert.deepEqual(
      tools.map(({ name }) => name),
      names.split(" "),
    );
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      assert.ok(title !== undefined && description !== undefined, name);
      assert.equal(inputSchema.additionalProperties, false, name);
      assert.equal(outputSchema?.type, "object", name);
      for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
        assert.equal(typeof annotations?.[hint as "readOnlyHint"], "boolean", `${name} ${hint}`);
      }
    }
    assert.match(client.getInstructions() ?? "", /Only status APPROVED permits the action/);
    assert.equal(client.getServerVersion()?.name, "countersign");
  });

  test(`the payload is executed as a person edited and approved it (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const asked = await call("request_approval", { ...refund, agentState: { step: 3 } });
    assert.equal(asked.value.status, "PENDING");
    assert.match(asked.text, /do not act.*await_decision/s);
    assert.equal("effectivePayload" in asked.value, false, "nothing to execute yet");
    const { id } = asked.value;

    const heard: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => heard.push(progress);
    const pending = await call("await_decision", { requestId: id, maxSeconds: 1 }, { onProgress });
    assert.equal(pending.isError, false);
    assert.equal(pending.value.status, "PENDING");
    assert.match(pending.text, /^Still pending.*await_decision/);
    assert.deepEqual(heard, [0]);

    const deciding = call("await_decision", { requestId: id }, { onProgress });
    await until(() => served.service.resolutions.waiting > 0);
    await served.approve(id, '{"orderId":1042,"amount":9007199254740993}');
    const { value, text } = await deciding;
    assert.equal(value.status, "APPROVED");
    assert.equal(value.wasEdited, true);
    assert.equal(value.resolvedByEmail, "ann@example.com");
    assert.deepEqual(
      value.effectivePayload,
      JSON.parse('{"orderId":1042,"amount":9007199254740993}'),
    );
    assert.match(text, /^Approved with changes.*call redeem_request with requestId req_/);
    const redeemed = await call("redeem_request", { requestId: id });
    assert.deepEqual(redeemed.value.effectivePayload, value.effectivePayload);
    assert.match(redeemed.text, /exactly effectivePayload, once, and not what you asked for/);
    const again = await call("redeem_request", { requestId: id });
    assert.equal(again.isError, true);
    assert.match(again.text, /^already_redeemed: .*redeemed at .*do not act/s);

    const read = await call("get_request", { requestId: id });
    assert.deepEqual(read.value.payload, refund.payload);
    assert.deepEqual(read.value.agentState, { step: 3 });
  });

  test(`a rejection is told with its reason, and not to be asked again (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const { id } = (await call("request_approval", refund)).value;
    await served.reject(id, "Already refunded");
    const { value, text, isError } = await call("await_decision", { requestId: id });
    assert.equal(isError, false);
    assert.equal(value.status, "REJECTED");
    assert.equal(value.resolutionNote, "Already refunded");
    assert.equal("effectivePayload" in value, false);
    assert.match(text, /do not ask again/);
    const redeemed = await call("redeem_request", { requestId: id });
    assert.equal(redeemed.isError, true);
    assert.match(redeemed.text, /^not_approved: .*was rejected.*do not act/s);
  });

  test(`pending requests are listed in pages without payloads, and can be cancelled (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const ids = [];
    for (const summary of ["One", "Two", "Three"]) {
      ids.unshift((await call("request_approval", { ...refund, summary })).value.id);
    }
    const first = (await call("list_pending", { limit: 2 })).value;
    assert.equal(first.hasMore, true);
    const second = (await call("list_pending", { limit: 2, cursor: first.nextCursor })).value;
    const rows = [...first.requests, ...second.requests];
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids,
    );
    assert.ok(rows.every((row) => !("payload" in row) && !("agentState" in row)));

    const cancelled = await call("cancel_request", { requestId: ids[0] });
    assert.equal(cancelled.value.status, "CANCELLED");
    assert.equal((await call("cancel_request", { requestId: ids[0] })).value.status, "CANCELLED");
    assert.equal((await call("list_pending", {})).value.requests.length, 2);
    await served.approve(ids[1]);
    const late = await call("cancel_request", { requestId: ids[1] });
    assert.equal(late.isError, true);
    assert.match(late.text, /^already_resolved: .*was approved/);
    assert.match(late.text, /its outcome stands.*get_request.*only status APPROVED permits/s);
    assert.doesNotMatch(late.text, /Nothing was approved/, "it says that it was approved");
  });

  test(`a refusal is an answer with the service's code and words (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const unknown = await call("get_request", { requestId: "req_unknown" });
    assert.equal(unknown.isError, true);
    assert.match(unknown.text, /^not_found: .*do not act/s);
    assert.match((await call("await_decision", { requestId: ".." })).text, /^not_found: /);
    const empty = await call("request_approval", { ...refund, summary: "" });
    assert.match(empty.text, /^validation_error: summary/);
    const huge = { ...refund, agentState: "x".repeat(262_144) };
    assert.match((await call("request_approval", huge)).text, /^state_too_large: /);
    for (const args of [
      { ...refund, approved: true },
      { summary: 1, notify: "a@b.c" },
      { notify: "ann@example.com" },
    ]) {
      const { isError, text } = await call("request_approval", args);
      assert.equal(isError, true);
      assert.match(text, /approved|summary/);
    }
    assert.equal((await call("await_decision", { requestId: "x", maxSeconds: 51 })).isError, true);
  });

  test(`the approver whom the workspace has set is asked, and the key's own approver first (${how})`, async (context) => {
    const { call, workspaceId, keyId } = await converse(context, way);
    const { notify, ...unaddressed } = refund;
    const ask = (args: object) => call("request_approval", { ...unaddressed, ...args });
    const nobody = await ask({});
    assert.equal(nobody.isError, true);
    assert.match(nobody.text, /^no_approver: .*sets a default approver.*under Settings/);
    assert.match(nobody.text, /Do not make one up\.\n.*do not act/);
    assert.deepEqual((await call("list_pending", {})).value.requests, []);

    const { db } = served.service;
    await updateWorkspace(db, workspaceId, { defaultApprover: "ann@example.com" });
    const askedOf = async (args: object) => {
      const { value } = await ask(args);
      return (await call("get_request", { requestId: value.id })).value.approverEmail;
    };
    assert.equal(await askedOf({}), "ann@example.com");
    assert.equal(await askedOf({ notify: null }), "ann@example.com", "null is as good as nothing");
    await changeKey(db, { id: keyId, defaultApprover: "ben@example.com" });
    assert.equal(await askedOf({}), "ben@example.com");
    assert.equal(await askedOf({ notify: "cy@example.com" }), "cy@example.com");
  });

  test(`no text invites the model to choose who decides (${how})`, async (context) => {
    const { client } = await converse(context, way);
    const { tools } = await client.listTools();
    const [ask] = tools;
    assert.deepEqual(ask?.inputSchema.required, ["summary"]);
    const notify = ask?.inputSchema.properties?.notify as { description: string };
    assert.match(notify.description, /^Leave this out: .*only if you were told whom to ask/);
  });

  test(`a payload that is JSON in a text is refused, and any other text is taken (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const fields = JSON.stringify(refund.payload);
    const wrapped = [`\ufeff${fields}`, `\`\`\`json\n${fields}\n\`\`\``, `\`\`\`${fields}\`\`\``];
    const texts = [fields, ` ${fields}\n`, JSON.stringify(fields), "[1]", "[]", ...wrapped];
    for (const payload of texts) {
      const { isError, text } = await call("request_approval", { ...refund, payload });
      assert.equal(isError, true, payload);
      assert.match(text, /payload: is a text with JSON in it\. Send the JSON value itself/);
    }
    for (const payload of ["drop table users", "42", "{braces}", '"quoted"', { sql: fields }]) {
      const { value } = await call("request_approval", { ...refund, payload });
      assert.deepEqual((await call("get_request", { requestId: value.id })).value.payload, payload);
    }
    assert.equal((await call("list_pending", {})).value.requests.length, 5);
  });

  test(`a number that is given as a text is refused by name, with how to send it (${how})`, async (context) => {
    const { call } = await converse(context, way);
    for (const [name, args, said] of [
      ["request_approval", { ...refund, ttlMinutes: "60" }, /ttlMinutes: must be a number such as/],
      ["await_decision", { requestId: "req_1", maxSeconds: "30" }, /maxSeconds: must be a number/],
      ["list_pending", { limit: "5" }, /limit: must be a number such as 20, not a text: send it/],
    ] as const) {
      const { isError, text } = await call(name, args);
      assert.equal(isError, true, name);
      assert.match(text, said);
    }
    assert.deepEqual((await call("list_pending", {})).value.requests, [], "nobody was asked");
  });

  test(`a key that is used again with other words leads back to its request, and to no second one (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const idempotencyKey = "refund-1042";
    const { id } = (await call("request_approval", { ...refund, idempotencyKey })).value;
    const other = { ...refund, summary: "Please refund order 1042", idempotencyKey };
    const { isError, text } = await call("request_approval", other);
    assert.equal(isError, true);
    assert.match(
      text,
      new RegExp(`^idempotency_key_reused: this idempotencyKey is that of ${id},`),
    );
    assert.match(text, /same action, do not ask with another key: call await_decision.*do not act/);
    assert.doesNotMatch(text, /Use a new key/);
    assert.equal((await call("list_pending", {})).value.requests.length, 1);
  });

  test(`a caller who stops waiting keeps nothing waiting in the service (${how})`, async (context) => {
    const { client, call } = await converse(context, way);
    const { id } = (await call("request_approval", refund)).value;
    const giveUp = new AbortController();
    const waiting = call(
      "await_decision",
      { requestId: id },
      { signal: giveUp.signal, onProgress: () => {} },
    );
    await until(() => served.service.resolutions.waiting > 0);
    giveUp.abort();
    await assert.rejects(waiting);
    // Over HTTP a client of 2025 cancels with a call of its own. No other call can hear of it, so it must hang up.
    if (way.transport === "http" && way.mode === "legacy") await client.close();
    await until(() => served.service.resolutions.waiting === 0);
  });

  test(`a client that is gone keeps nothing waiting in the service (${how})`, async (context) => {
    const { client, call } = await converse(context, way);
    const { id } = (await call("request_approval", refund)).value;
    const waiting = call("await_decision", { requestId: id });
    const failed = assert.rejects(waiting);
    await until(() => served.service.resolutions.waiting > 0);
    await client.close();
    await failed;
    await until(() => served.service.resolutions.waiting === 0);
  });

  test(`nothing of one workspace is seen or changed from another (${how})`, async (context) => {
    const mine = await converse(context, way);
    const theirs = await converse(context, way);
    const { id } = (await mine.call("request_approval", refund)).value;
    for (const tool of ["get_request", "await_decision", "redeem_request", "cancel_request"]) {
      assert.match((await theirs.call(tool, { requestId: id })).text, /^not_found: /, tool);
    }
    assert.deepEqual((await theirs.call("list_pending", {})).value.requests, []);
    assert.equal((await mine.call("get_request", { requestId: id })).value.status, "PENDING");
  });

  test(`several calls at once each get their own answer (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const summaries = Array.from({ length: 12 }, (_, at) => `Order ${at}`);
    const asked = await Promise.all(
      summaries.map((summary) => call("request_approval", { ...refund, summary })),
    );
    assert.deepEqual(
      asked.map(({ value }) => value.summary),
      summaries,
    );
    const waiting = asked.map(({ value }) => call("await_decision", { requestId: value.id }));
    await until(() => served.service.resolutions.waiting >= 12);
    for (const { value } of asked) await served.approve(value.id);
    const decided = await Promise.all(waiting);
    assert.deepEqual(
      decided.map(({ value }) => [value.summary, value.status]),
      summaries.map((summary) => [summary, "APPROVED"]),
    );
  });

  test(`the same idempotency key asks people once (${how})`, async (context) => {
    const { call } = await converse(context, way);
    const input = { ...refund, idempotencyKey: "refund-1042" };
    const first = await call("request_approval", input);
    assert.equal((await call("request_approval", input)).value.id, first.value.id);
    const nothing = { agentName: null, recentActions: null, ttlMinutes: null, payload: null };
    const other = await call("request_approval", { ...refund, ...nothing, idempotencyKey: null });
    assert.equal(other.value.status, "PENDING", "null is as good as nothing");
  });
}

test("a model asks several people, reads how far they are, and takes no part of them for a permission", async (context) => {
  const { call } = await converse(context, { transport: "http", mode: "auto" });
  const people = {
    then: [{ notify: "ben@example.com", quorum: 1 }],
    requestedBy: "eve@example.com",
    escalate: [{ afterMinutes: 30, notify: "cat@example.com" }],
    channels: ["mail", "push"],
    audience: ["ledger"],
    requireSignature: false,
  };
  const asked = await call("request_approval", { ...refund, ...people });
  assert.match(asked.text, /0 of 1 people have approved in stage 1 of 2, which is no permission/);
  const { id } = asked.value;
  await served.approve(id, undefined, "Fine");
  const half = await call("get_request", { requestId: id });
  assert.deepEqual([half.value.status, half.value.requestedBy], ["PENDING", "eve@example.com"]);
  assert.deepEqual(half.value.channels, ["mail", "push"]);
  assert.deepEqual([half.value.audience, half.value.requireSignature], [["ledger"], false]);
  assert.equal(half.value.approvals.stages[0].votes[0].note, "Fine");
  assert.match(half.text, /do not act.*stage 2 of 2|stage 2 of 2.*do not act/s);
  assert.equal((await call("redeem_request", { requestId: id })).isError, true);
  await served.approve(id);
  const decided = await call("await_decision", { requestId: id });
  assert.equal(decided.value.status, "APPROVED");
  assert.equal((await call("redeem_request", { requestId: id })).isError, false);
  const alone = await call("request_approval", { ...refund, quorum: 2 });
  assert.match(alone.text, /quorum_unreachable/);
  const unread = await call("request_approval", {
    ...refund,
    then: [{ notify: "a@b.c", quorom: 2 }],
  });
  assert.equal(unread.isError, true);
});
