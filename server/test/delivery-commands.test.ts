// The operator's commands about deliveries, as an operator runs them: one process per command. One database has a
// worker, in this process. The other has none, so that the rows that commands wrote stay as they are.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import { disableEndpoint, enableEndpoint } from "../src/operations/deliveries/manage-endpoint.ts";
import { until } from "./patience.ts";
import { startMailserver } from "./test-mailbox.ts";
import { assertRefused, environmentOn, jsonOf, runCommand, textOf } from "./test-program.ts";
import { makeWorkspace, minimalBody, startService, type TestService } from "./test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "./test-worker.ts";
import { isSignedWith } from "./webhook-verifier.ts";

const quiet = await startService();
let wake = () => {};
const busy = await startService({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
const worker = startWorker(busy.database, { webhookRetryDelaysMs: [20, 20] });
wake = () => worker.worker.wake();
after(async () => {
  await worker.stop();
  await busy.stop();
  await quiet.stop();
});

const onQuiet = environmentOn(quiet.database.url);
const onBusy = environmentOn(busy.database.url);
const run = (...words: string[]) => runCommand(onBusy, words);
const runQuiet = (...words: string[]) => runCommand(onQuiet, words);

/** These fields describe a delivery, everywhere. */
const deliveryFields = [
  ...["id", "workspaceId", "requestId", "requestSummary", "event", "eventAt", "state"],
  ...["endpointId", "url", "email"],
  ...["attempts", "lastOutcome", "lastHttpStatus", "nextAttemptAt", "createdAt", "finishedAt"],
];
const attemptFields = [
  ...["number", "startedAt", "finishedAt", "outcome", "httpStatus", "durationMs", "responseStart"],
];
const hostileAnswer = "\u001b[31mred\u0007 \u202etxet\u009b0m\r\nsecond line\u200b";

describe("deliveries with a worker", { concurrency: 2 }, () => {
  test("callbacks are listed by their host; their request has the address, and their workspace the secret", async () => {
    const { id: workspace, key } = await makeWorkspace(busy.db);
    const receiver = await startReceiver();
    const callbackUrl = `${receiver.url}/resume-77`;
    const id = await create(busy, key, { ...minimalBody, callbackUrl });
    await busy.call("POST", `/v1/requests/${id}/cancel`, { key });
    const [heard] = await until(() => receiver.heard.length > 0 && receiver.heard, "the callback");
    const deliveryId = String(heard?.headers["x-service-delivery-id"]);
    const secretOf = ["workspace", "callback-secret", workspace];
    const [listed, shown, request, secret] = await Promise.all([
      run("delivery", "list", "--workspace", workspace),
      run("delivery", "show", deliveryId, "--json"),
      run("request", "show", id, "--json"),
      run(...secretOf),
    ]);
    const { host } = new URL(callbackUrl);
    assert.match(textOf(listed), new RegExp(`${deliveryId} .* callback to ${host} +delivered`));
    assert.doesNotMatch(textOf(listed), /resume-77/);
    const { callbackHost, url, email, body } = jsonOf(shown);
    assert.deepEqual([callbackHost, url, email], [host, null, null]);
    assert.equal(body, heard?.body.toString());
    assert.equal(jsonOf(request).callbackUrl, callbackUrl);
    const text = textOf(secret).trim();
    assert.ok(
      heard && isSignedWith(text, String(heard.headers["x-service-signature"]), heard.body),
    );
    const rotated = jsonOf(await run(...secretOf, "--rotate", "--json"));
    assert.deepEqual(Object.keys(rotated), ["secret", "oldSecretEndsAt"]);
    assert.notEqual(rotated.secret, text);
    assertRefused(await run("workspace", "callback-secret", "ws_none"), /there is no workspace/);
    await receiver.close();
  });

  test("are listed and shown with what was sent and what came back", async () => {
    const { id: workspace, key } = await makeWorkspace(busy.db);
    const good = await startReceiver((response) => response.end("thanks"));
    const bad = await startReceiver((response) => response.writeHead(500).end(hostileAnswer));
    const goodEndpoint = await makeEndpoint(busy.db, workspace, good.url);
    const badEndpoint = await makeEndpoint(busy.db, workspace, bad.url);
    const hidden = "Pay \u202e0074 to Müller";
    const requestId = await create(busy, key, { ...minimalBody, summary: hidden });
    const other = await create(busy, key, { ...minimalBody, payload: { text: "\u009b31m" } });
    await untilSettled(busy, workspace, 6);

    const list = ["delivery", "list", "--workspace", workspace];
    const [all, table, ofOne, failed, first] = await Promise.all([
      run(...list, "--json"),
      run(...list),
      run(...list, "--request", requestId, "--json"),
      run(...list, "--failed", "--json"),
      run(...list, "--limit", "1", "--json"),
    ]);
    const listed: Listed[] = jsonOf(all);
    assert.equal(listed.length, 6);
    for (const each of listed) assert.deepEqual(Object.keys(each), deliveryFields);
    const ids = listed.map(({ id }) => id);
    assert.deepEqual(ids, ids.toSorted().reverse(), "newest first");
    const mine = listed.filter((each) => each.requestId === requestId);
    assert.deepEqual(jsonOf(ofOne), mine);
    assert.deepEqual(
      jsonOf(failed),
      listed.filter(({ url }) => url === bad.url),
    );
    assert.deepEqual(jsonOf(first), listed.slice(0, 1));
    const tableText = textOf(table);
    assert.match(tableText, /^ID +EVENT +REQUEST +DESTINATION +STATE +ATTEMPTS +LAST +SUMMARY$/m);
    assert.match(
      tableText,
      new RegExp(`${requestId} +${bad.url} +failed +3 +http status \\(HTTP 500\\) +\\S`, "m"),
    );
    assert.match(
      tableText,
      new RegExp(`${good.url} +delivered +1 +delivered \\(HTTP 200\\) +\\S`, "m"),
    );
    assert.match(tableText, /ann@example\.com +delivered +1 +kept +\S/m);
    assertHarmless(tableText);

    const failure = findOf(mine, bad.url);
    const mail = findOf(mine, null);
    const ofOther = listed.find((each) => each.requestId === other && each.url === good.url);
    const [json, text, mailJson, mailText, payloadText] = await Promise.all([
      run("delivery", "show", failure.id, "--json"),
      run("delivery", "show", failure.id),
      run("delivery", "show", mail.id, "--json"),
      run("delivery", "show", mail.id),
      run("delivery", "show", ofOther?.id ?? ""),
    ]);
    const shown = jsonOf(json);
    assert.deepEqual(Object.keys(shown), [...deliveryFields, "body"]);
    assert.deepEqual(
      { ...shown, attempts: 3 },
      { ...failure, body: heardBody(bad.heard, failure.id) },
      "the body is what the endpoint got, to the byte",
    );
    assert.equal(shown.attempts.length, 3);
    for (const attempt of shown.attempts) {
      assert.deepEqual(Object.keys(attempt), attemptFields);
      const { outcome, httpStatus, durationMs, responseStart } = attempt;
      assert.deepEqual({ outcome, httpStatus }, { outcome: "http_status", httpStatus: 500 });
      assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
      assert.equal(responseStart, hostileAnswer);
    }
    assert.equal(failure.endpointId, badEndpoint.id);
    assert.equal(findOf(mine, good.url).endpointId, goodEndpoint.id);
    assertHarmless(json.stdout);

    const shownText = textOf(text);
    assertHarmless(shownText);
    assert.match(shownText, new RegExp(`^${failure.id} +failed$`, "m"));
    assert.match(shownText, /^ATTEMPT +STARTED +OUTCOME +MS$/m);
    assert.match(shownText, /^3 +\d{4}-\S+Z +http status \(HTTP 500\) +\d+$/m);
    assert.match(shownText, /^Answer to attempt 3:\n\[U\+001B ESC\]\[31mred\[U\+0007 BEL\] /m);
    assert.match(shownText, /^Body \(what cannot be seen is named/m);
    assert.match(shownText, /^\{"event":"request\.created".*\[U\+202E RLO\]0074/m);
    assertHarmless(textOf(payloadText));
    assert.match(payloadText.stdout, /\[U\+009B\]31m/);

    for (const { stdout } of [mailJson, mailText, all, table]) {
      assert.doesNotMatch(stdout, /\/review\/|[A-Za-z0-9_-]{43}/, "no link that decides");
    }
    assert.equal(jsonOf(mailJson).body, null);
    assert.equal(mail.email, minimalBody.notify);
    assert.match(textOf(mailText), /kept/);
    await Promise.all([good.close(), bad.close()]);
  });

  test("are sent again with the same id and the same bytes, whether they had failed, were skipped or arrived", async () => {
    const { id: workspace, key } = await makeWorkspace(busy.db);
    let status = 500;
    const receiver = await startReceiver((response) => response.writeHead(status).end());
    const endpoint = await makeEndpoint(busy.db, workspace, receiver.url, ["request.created"]);
    await create(busy, key);
    await untilSettled(busy, workspace, 2);
    await disableEndpoint(busy.db, endpoint.id, "moving");
    await create(busy, key);
    await untilSettled(busy, workspace, 4);
    const deliveries = await statesOf(busy, workspace);
    const [failed, skipped] = deliveries.filter(({ endpoint_id }) => endpoint_id !== null);
    assert.deepEqual([failed?.state, skipped?.state], ["failed", "skipped"]);
    const failedId = failed?.id ?? "";
    const skippedId = skipped?.id ?? "";
    assertRefused(
      await run("delivery", "resend", failedId),
      new RegExp(`${endpoint.id} is disabled; .*countersign webhook enable ${endpoint.id}`),
    );

    status = 200;
    await enableEndpoint(busy.db, endpoint.id);
    const [again, text] = await Promise.all([
      run("delivery", "resend", failedId, "--json"),
      run("delivery", "resend", skippedId),
    ]);
    const due = jsonOf(again);
    assert.deepEqual(Object.keys(due), deliveryFields);
    assert.deepEqual([due.id, due.state, due.attempts], [failedId, "due", 3]);
    assert.match(textOf(text), new RegExp(`is due again.*delivery show ${skippedId}`));
    await untilSettled(busy, workspace, 4);
    const heard = () => receiver.heard.filter(({ headers }) => headers["webhook-id"] === failedId);
    assert.equal(heard().length, 4);
    assert.ok(receiver.heard.some(({ headers }) => headers["webhook-id"] === skippedId));

    jsonOf(await run("delivery", "resend", failedId, "--json"));
    await until(() => heard().length === 5, "a delivered one is sent again when asked for");
    assert.equal(new Set(heard().map(({ body }) => body.toString())).size, 1);
    await untilSettled(busy, workspace, 4);
    await receiver.close();
  });

  test("of mails are sent again while there is something to decide, and never after", async () => {
    const { id: workspace, key } = await makeWorkspace(busy.db);
    const [pending, cancelled] = [await create(busy, key), await create(busy, key)];
    await untilSettled(busy, workspace, 2);
    const resolved = await busy.call("POST", `/v1/requests/${cancelled}/cancel`, { key });
    assert.equal(resolved.status, 200);
    const listed: Listed[] = jsonOf(
      await run("delivery", "list", "--workspace", workspace, "--json"),
    );
    const idOf = (requestId: string) =>
      listed.find((each) => each.requestId === requestId)?.id ?? "";
    const [sent, refused, unknown] = await Promise.all([
      run("delivery", "resend", idOf(pending), "--json"),
      run("delivery", "resend", idOf(cancelled)),
      run("delivery", "resend", "dlv_nope", "--json"),
    ]);
    assert.equal(jsonOf(sent).state, "due");
    assertRefused(refused, new RegExp(`${cancelled} is no longer pending.*ann@example.com`));
    assertRefused(unknown, /no delivery dlv_nope; .*delivery list/);
    await untilSettled(busy, workspace, 2);
  });

  test("webhook test says how it went, whatever the endpoint subscribes to", async (t) => {
    const { id: workspace } = await makeWorkspace(busy.db);
    const good = await startReceiver((response) => response.end("ok"));
    const bad = await startReceiver((response) => response.writeHead(503).end());
    t.after(() => Promise.all([good.close(), bad.close()]));
    const [one, two, off] = await Promise.all([
      makeEndpoint(busy.db, workspace, good.url, ["request.expired"]),
      makeEndpoint(busy.db, workspace, bad.url),
      makeEndpoint(busy.db, workspace, "https://off.example"),
    ]);
    await disableEndpoint(busy.db, off.id, "moving");
    const [json, text, failure, disabled, unknown] = await Promise.all([
      run("webhook", "test", one.id, "--json"),
      run("webhook", "test", one.id),
      run("webhook", "test", two.id),
      run("webhook", "test", off.id),
      run("webhook", "test", "we_nope"),
    ]);
    const tested = jsonOf(json);
    assert.deepEqual(Object.keys(tested), deliveryFields);
    const { event, state, attempts, lastOutcome, lastHttpStatus, requestId } = tested;
    assert.deepEqual(
      { event, state, attempts, lastOutcome, lastHttpStatus, requestId },
      {
        event: "webhook.test",
        state: "delivered",
        attempts: 1,
        lastOutcome: "delivered",
        lastHttpStatus: 200,
        requestId: null,
      },
    );
    assert.match(textOf(text), /^Test event dlv_\S+: delivered \(HTTP 200\)\. More: countersign/);
    assert.match(textOf(failure), /^Test event dlv_\S+: http status \(HTTP 503\)\./);
    assertRefused(disabled, new RegExp(`disabled; .*countersign webhook enable ${off.id}`));
    assertRefused(unknown, /no webhook endpoint we_nope/);
    assert.equal(good.heard.length, 2);
    const { body } = jsonOf(await run("delivery", "show", tested.id, "--json"));
    assert.equal(body, heardBody(good.heard, tested.id));
  });
});

describe("deliveries without a worker", { concurrency: 2 }, () => {
  test("webhook test waits for no worker and says that it will be sent", async () => {
    const { id: workspace } = await makeWorkspace(quiet.db);
    const endpoint = await makeEndpoint(quiet.db, workspace, "https://a.example");
    const text = textOf(await runQuiet("webhook", "test", endpoint.id));
    assert.match(text, /^The test event dlv_\S+ will be sent as soon as a worker runs/);
    const shown = textOf(await runQuiet("delivery", "list", "--workspace", workspace));
    assert.match(shown, /webhook\.test +- +https:\/\/a\.example +due +0 +not tried yet +-$/m);

    await quiet.db.query(
      `update deliveries set lease_token = gen_random_uuid(), leased_until = now() + interval '1 minute'
       where workspace_id = $1`,
      [workspace],
    );
    const id = /dlv_[0-9a-f]+/.exec(text)?.[0] ?? "";
    const [underWay, twoLines] = await Promise.all([
      runQuiet("delivery", "resend", id),
      runQuiet("delivery", "show", "dlv_\u001b[31m\nforged"),
    ]);
    assertRefused(underWay, /an attempt of dlv_\S+ is under way; look again in a moment/);
    assertRefused(twoLines, /no delivery dlv_\[U\+001B ESC\]/);
  });

  test("resend-failed takes what failed or was skipped since a time, and leaves out disabled endpoints", async () => {
    const { id: workspace, key } = await makeWorkspace(quiet.db);
    const kinds = ["request.created"] as const;
    const one = await makeEndpoint(quiet.db, workspace, "https://one.example", kinds);
    const two = await makeEndpoint(quiet.db, workspace, "https://two.example", kinds);
    const off = await makeEndpoint(quiet.db, workspace, "https://off.example", kinds);
    await create(quiet, key);
    await create(quiet, key);
    const rows = await statesOf(quiet, workspace);
    const to = (endpoint: { id: string }) => rows.filter((row) => row.endpoint_id === endpoint.id);
    const [old, recent] = to(one);
    const [skipped, delivered] = to(two);
    const hidden = to(off);
    const mails = rows.filter((row) => row.endpoint_id === null);
    const end = (row: Row | undefined, state: string, age: string | null) =>
      quiet.db.query(
        `update deliveries set state = $2, finished_at = now_ms() - $3::interval,
           created_at = created_at - interval '1 minute' where id = $1`,
        [row?.id, state, age],
      );
    await end(old, "failed", "2 hours");
    await end(recent, "failed", "10 minutes");
    await end(skipped, "skipped", null);
    await end(delivered, "delivered", "1 minute");
    for (const row of hidden) await end(row, "failed", "1 minute");
    await end(mails[0], "failed", "5 hours");
    await end(mails[1], "delivered", "1 minute");
    await disableEndpoint(quiet.db, off.id, "moving");

    const resend = ["delivery", "resend-failed", "--workspace", workspace, "--since"];
    const within = async (since: string, ...more: string[]) =>
      jsonOf(await runQuiet(...resend, since, ...more, "--json"));
    assert.deepEqual(await within("30m", "--endpoint", off.id), { resent: 0 });
    assert.deepEqual(await within("30m"), { resent: 2 });
    assert.deepEqual(await dueOf(workspace), [recent?.id, skipped?.id].toSorted());
    const threeHoursAgo = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 16);
    const byIso = textOf(await runQuiet(...resend, threeHoursAgo, "--endpoint", one.id));
    assert.equal(byIso, "1 delivery is due again.");
    assert.deepEqual(await dueOf(workspace), [recent?.id, skipped?.id, old?.id].toSorted());
    assert.deepEqual(await within("1d"), { resent: 1 }, "a mail about what is still pending");
    const none = textOf(await runQuiet(...resend, "999999d"));
    assert.match(none, /^Nothing failed .*disabled are left out: enable them first\.$/);

    const refused = ["yesterday", "6x", "2026-02-30", "2026-11-15T25:00Z", "09:00", ""];
    const outcomes = await Promise.all([
      ...refused.map((since) => runQuiet(...resend, since)),
      runQuiet(...resend, "1h", "--endpoint", "we_nope"),
      runQuiet("delivery", "resend-failed", "--workspace", "ws_nope", "--since", "1h"),
      runQuiet("delivery", "list", "--workspace", "ws_nope"),
      runQuiet("delivery", "list", "--workspace", workspace, "--limit", "0"),
    ]);
    for (const [at, since] of refused.entries()) {
      assertRefused(outcomes[at] as Outcome, /is not a time; write it like 2026-.* 6h/);
      assert.ok(outcomes[at]?.stderr.includes(since));
    }
    const [unknownEndpoint, unknownWorkspace, unknownToList, noLimit] = outcomes.slice(-4);
    assertRefused(unknownEndpoint as Outcome, /no webhook endpoint we_nope/);
    assertRefused(unknownWorkspace as Outcome, /no workspace ws_nope/);
    assertRefused(unknownToList as Outcome, /no workspace ws_nope/);
    assertRefused(noLimit as Outcome, /0 is not a limit; .*1 to 10000/);
  });

  test("an endpoint at a private address is refused with advice, and a metadata address always", async () => {
    const { id: workspace } = await makeWorkspace(quiet.db);
    const create = (url: string, allowed?: string) =>
      runCommand(
        { ...onQuiet, ...(allowed === undefined ? {} : { WEBHOOK_ALLOW_CIDRS: allowed }) },
        [...["webhook", "create", "--workspace", workspace, "--url", url, "--json"]],
      );
    const [loopback, name, inside, allowed, metadata, metadataAllowed] = await Promise.all([
      create("http://127.0.0.1:9999/hook"),
      create("http://localhost:9999/hook"),
      create("http://10.1.2.3/hook", "127.0.0.0/8"),
      create("http://127.0.0.1:9999/hook", "127.0.0.0/8"),
      create("http://169.254.169.254/latest"),
      create("http://169.254.169.254/latest", "169.254.0.0/16"),
    ]);
    const advice = /add (\S+) to the list in WEBHOOK_ALLOW_CIDRS, for the server and this command/;
    for (const [outcome, cidr] of [
      [loopback, "127.0.0.1/32"],
      [name, "127.0.0.1/32"],
      [inside, "10.1.2.3/32"],
    ] as const) {
      assertRefused(outcome, advice);
      assert.equal(advice.exec(outcome.stderr)?.[1], cidr);
    }
    assert.match(name.stderr, /localhost resolves to 127\.0\.0\.1/);
    const fields = ["id", "secret", "workspaceId", "url", "events", "createdAt"];
    const health = ["disabledAt", "disabledReason", "failingSince"];
    assert.deepEqual(Object.keys(jsonOf(allowed)), [...fields, ...health]);
    for (const outcome of [metadata, metadataAllowed]) {
      assertRefused(outcome, /cloud metadata address, which webhooks may never reach/);
      assert.doesNotMatch(outcome.stderr, /WEBHOOK_ALLOW_CIDRS/);
    }
  });

  test("webhook list says which endpoints fail since when, and which are disabled why", async () => {
    const { id: workspace } = await makeWorkspace(quiet.db);
    const failing = await makeEndpoint(quiet.db, workspace, "https://failing.example");
    const off = await makeEndpoint(quiet.db, workspace, "https://off.example");
    await makeEndpoint(quiet.db, workspace, "https://fine.example");
    const since = "2026-11-14T09:30:00.000Z";
    await quiet.db.query("update endpoints set failing_since = $2 where id = $1", [
      failing.id,
      since,
    ]);
    await disableEndpoint(quiet.db, off.id, "it answered 410 Gone");
    const list = ["webhook", "list", "--workspace", workspace];
    const [text, json] = await Promise.all([runQuiet(...list), runQuiet(...list, "--json")]);
    assert.match(textOf(text), new RegExp(`failing\\.example +all +failing since ${since}$`, "m"));
    assert.match(textOf(text), /off\.example +all +disabled: it answered 410 Gone$/m);
    assert.match(textOf(text), /fine\.example +all +enabled$/m);
    const listed: { id: string; failingSince: string | null; disabledReason: string | null }[] =
      jsonOf(json);
    const health = new Map(
      listed.map((each) => [each.id, [each.failingSince, each.disabledReason]]),
    );
    assert.deepEqual(health.get(failing.id), [since, null]);
    assert.deepEqual(health.get(off.id), [null, "it answered 410 Gone"]);
  });

  test("text that names and addresses hold reaches no terminal as it is", async () => {
    const { id: workspace } = await makeWorkspace(quiet.db, { name: "Acme \u202etxet\u200b" });
    const endpoint = await makeEndpoint(quiet.db, workspace, "https://a.example");
    const url = "https://a.example/\u001b[31m\u202e\r\nforged  enabled";
    await quiet.db.query("update endpoints set url = $2 where id = $1", [endpoint.id, url]);
    const [workspaces, endpoints, json] = await Promise.all([
      runQuiet("workspace", "list"),
      runQuiet("webhook", "list", "--workspace", workspace),
      runQuiet("webhook", "list", "--workspace", workspace, "--json"),
    ]);
    for (const outcome of [workspaces, endpoints, json]) assertHarmless(textOf(outcome));
    assert.match(workspaces.stdout, /Acme \[U\+202E RLO\]txet\[U\+200B ZWSP\]/);
    assert.equal(textOf(endpoints).split("\n").length, 2, "a cell is one line");
    assert.equal(jsonOf(json)[0].url, url, "machines get it as it is");
  });

  test("a workspace's reminder is set to a share, turned off, and refused outside its bounds", async () => {
    const { id } = await makeWorkspace(quiet.db);
    const set = (value: string, ...more: string[]) =>
      runQuiet("workspace", "update", id, "--reminder", value, ...more);
    assert.equal(jsonOf(await set("20", "--json")).reminderPercent, 20);
    assert.match(
      textOf(await runQuiet("workspace", "list")),
      new RegExp(
        `^${id} .* 20 % +off +none +anybody +workspace +as asked +24 h +for ever +0$`,
        "m",
      ),
    );
    assert.equal(jsonOf(await set("off", "--json")).reminderPercent, null);
    const [list, zero, much, word] = await Promise.all([
      runQuiet("workspace", "list"),
      set("0"),
      set("51"),
      set("often"),
    ]);
    assert.match(
      textOf(list),
      new RegExp(`^${id} .* off +off +none +anybody +workspace +as asked +24 h +for ever +0$`, "m"),
    );
    assertRefused(zero, /reminder: .*1 to 50/);
    assertRefused(much, /reminder: .*1 to 50/);
    assertRefused(word, /often is not a whole number/);
  });
});

describe("doctor", () => {
  const examine = async (environment: Record<string, string>) => {
    const outcome = await runCommand({ ...onQuiet, ...environment }, ["doctor", "--json"]);
    const findings: Finding[] = JSON.parse(outcome.stdout);
    const mail = findings.find(({ check }) => check === "mail");
    return { outcome, findings, mail: `${mail?.state}: ${mail?.detail}` };
  };

  test("says without a mail server where mails are kept, and how to have them sent", async () => {
    const [local, exposed, text] = await Promise.all([
      examine({ PUBLIC_URL: "http://127.0.0.1:1/sub" }),
      examine({ PUBLIC_URL: "http://approvals.invalid" }),
      runQuiet("doctor"),
    ]);
    assert.equal(local.outcome.code, 0);
    assert.deepEqual(
      local.findings.map(({ check, state }) => `${check} ${state}`),
      ["database ok", "schema ok", "clock ok", "role ok", "public URL warning", "mail warning"],
    );
    for (const finding of local.findings) {
      assert.deepEqual(Object.keys(finding), ["check", "state", "detail"]);
    }
    assert.match(local.mail, /kept, and shown at \/dev\/mail.*set SMTP_URL, such as smtps:\/\//);
    assert.equal(exposed.outcome.code, 0);
    assert.match(exposed.mail, /^warning: .*no approver hears .*http:\/\/approvals\.invalid/);
    const https = exposed.findings.find(({ check }) => check === "https");
    assert.match(
      `${https?.state}: ${https?.detail}`,
      /^warning: .*unencrypted.*nothing can be decided.*TLS.*PUBLIC_URL/,
    );
    assert.match(textOf(text), /^warning {2}mail: nothing is sent: .*\/dev\/mail/m);
  });

  test("signs in to the mail server, and says what failed and what to do", async () => {
    const open = await startMailserver();
    const closed = await startMailserver(undefined, {
      disabledCommands: ["STARTTLS"],
      onAuth: ({ username, password }, _session, done) =>
        password === "right"
          ? done(null, { user: username })
          : done(new Error("\u001b[2Jno\u202e")),
    });
    const withUser = (password: string) => closed.url.replace("//", `//ann:${password}@`);
    const sender = { MAIL_FROM: "approvals@example.com" };
    const [fine, localSender, right, wrong, nobody] = await Promise.all([
      examine({ SMTP_URL: open.url, ...sender }),
      examine({ SMTP_URL: open.url }),
      examine({ SMTP_URL: withUser("right"), ...sender }),
      examine({ SMTP_URL: withUser("hush-hush"), ...sender }),
      examine({ SMTP_URL: "smtp://127.0.0.1:1", ...sender }),
    ]);
    assert.match(
      fine.mail,
      /^ok: 127\.0\.0\.1:\d+ answers; mails come from approvals@example\.com$/,
    );
    assert.match(localSender.mail, /^warning: .*countersign@localhost.*Set MAIL_FROM\.$/);
    assert.match(right.mail, /^ok: .*lets us sign in/);
    assert.match(wrong.mail, /^failed: .*sign in failed.*user name and password in SMTP_URL/);
    assertRefusedAfterOutput(wrong.outcome, /1 check\(s\) failed: mail/);
    assert.doesNotMatch(wrong.outcome.stdout + wrong.outcome.stderr, /hush-hush/);
    assertHarmless(wrong.outcome.stdout);
    assert.match(nobody.mail, /^failed: 127\.0\.0\.1:1: connection failed\. Check host and port/);
    assert.equal(open.received.length + closed.received.length, 0, "nothing was sent");
    await Promise.all([open.close(), closed.close()]);
  });
});

type Outcome = Awaited<ReturnType<typeof run>>;
type Finding = { check: string; state: string; detail: string };
type Listed = {
  id: string;
  requestId: string | null;
  url: string | null;
  endpointId: string | null;
  email: string | null;
};
type Row = { id: string; state: string; endpoint_id: string | null };

async function create(service: TestService, key: string, body: object = minimalBody) {
  const created = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(created.status, 201);
  return created.json.id as string;
}

/** Waits until there are `count` deliveries and none is due any more. */
async function untilSettled(service: TestService, workspaceId: string, count: number) {
  await until(async () => {
    const rows = await statesOf(service, workspaceId);
    return rows.length === count && rows.every(({ state }) => state !== "due");
  }, `${count} deliveries settle`);
}

/** In the order in which they were made. */
async function statesOf(service: TestService, workspaceId: string): Promise<Row[]> {
  const { rows } = await service.db.query<Row>(
    "select id, state, endpoint_id from deliveries where workspace_id = $1 order by id",
    [workspaceId],
  );
  return rows;
}

async function dueOf(workspaceId: string): Promise<string[]> {
  const rows = await statesOf(quiet, workspaceId);
  return rows.filter(({ state }) => state === "due").map(({ id }) => id);
}

function findOf(listed: Listed[], url: string | null): Listed {
  const found = listed.find((each) => each.url === url);
  assert.ok(found !== undefined, `a delivery to ${url}`);
  return found;
}

function heardBody(
  heard: { headers: Record<string, unknown>; body: Buffer }[],
  id: string,
): string | undefined {
  return heard.find(({ headers }) => headers["webhook-id"] === id)?.body.toString();
}

/** Nothing that a terminal obeys, and nothing that hides or turns what it shows. */
function assertHarmless(text: string): void {
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
}

function assertRefusedAfterOutput({ code, stderr }: Outcome, pattern: RegExp): void {
  assert.ok(code > 0);
  assert.match(stderr, /^[^\n]+\n$/, "exactly one line");
  assert.match(stderr, pattern);
}
