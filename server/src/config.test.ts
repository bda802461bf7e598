import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { readConfig } from "./config.ts";
import { isWithinCidrs, makeAddressPolicy } from "./domain/access/network-address.ts";
import { OperatorFault } from "./domain/operator-fault.ts";

const secretKey = randomBytes(32).toString("base64");

test("an empty environment gives the documented defaults", () => {
  const config = readConfig({}, false);
  const policy = makeAddressPolicy(config.webhookAllowed);
  assert.deepEqual(
    {
      ...config,
      dataDir: config.dataDir.endsWith("/data"),
      webhookAllowed: ["127.0.0.1", "::1", "10.0.0.1"].map((each) => policy.flawOf(each) === null),
      callbackAllowed: config.callbackAllowed === config.webhookAllowed,
      trustedProxies: ["127.0.0.1", "::1", "10.0.0.1", "8.8.8.8", "2606:4700::7"].map((each) =>
        isWithinCidrs(each, config.trustedProxies),
      ),
    },
    {
      host: "127.0.0.1",
      port: 3000,
      publicUrl: "http://localhost:3000",
      databaseUrl: null,
      databaseDirectUrl: null,
      databaseOwnerUrl: null,
      databaseConnectionsMax: 10,
      dataDir: true,
      keyring: null,
      lostSecretKeyIds: [],
      rateLimit: { perSecond: 100, burst: 200 },
      trustedProxies: [true, true, true, false, false],
      role: "all",
      probePort: null,
      drainMs: 0,
      smtpUrl: null,
      mailFrom: { name: "Countersign", address: "countersign@localhost" },
      oidc: null,
      webhookAllowed: [true, true, false],
      callbackAllowed: true,
      webhookRetryDelaysMs: [30_000, 300_000],
      slackApiUrl: "https://slack.com/api/",
      witnesses: [],
      metrics: null,
      tracing: null,
      logLevel: "info",
      logFormat: "json",
    },
  );
  assert.equal(readConfig({}, true).logFormat, "text");
});

test("what is set is taken, and what is set to nothing counts as not set", () => {
  const config = readConfig({
    PORT: "8080",
    HOST: "",
    PUBLIC_URL: "https://x.example/approvals/",
    RATE_LIMIT: "0",
  });
  assert.equal(config.port, 8080);
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.publicUrl, "https://x.example/approvals");
  assert.equal(config.rateLimit, null);
  assert.equal(readConfig({ PORT: "4000" }).publicUrl, "http://localhost:4000");
});

test("mail and webhooks are set by their variables", () => {
  const config = readConfig({
    ROLE: "worker",
    SMTP_URL: "smtps://user:pa%40ss@smtp.example",
    MAIL_FROM: "Approvals <approvals@example.com>",
    WEBHOOK_ALLOW_CIDRS: "10.0.0.0/8, fd00::/8",
    WEBHOOK_RETRY_DELAYS: "500ms,2h",
  });
  assert.equal(config.role, "worker");
  assert.equal(config.smtpUrl, "smtps://user:pa%40ss@smtp.example");
  assert.deepEqual(config.mailFrom, { name: "Approvals", address: "approvals@example.com" });
  assert.deepEqual(config.webhookRetryDelaysMs, [500, 7_200_000]);
  const policy = makeAddressPolicy(config.webhookAllowed);
  const isAllowed = (address: string) => policy.flawOf(address) === null;
  assert.deepEqual(["10.1.2.3", "fd00::1", "127.0.0.1"].map(isAllowed), [true, true, false]);
});

test("with an external database webhooks reach no private address unless told so", () => {
  const config = readConfig({ DATABASE_URL: "postgres://x/y", SECRET_KEY: secretKey });
  assert.deepEqual(config.webhookAllowed, []);
  assert.deepEqual(config.callbackAllowed, []);
});

test("callbacks reach no private address unless told so, except on a machine that nobody else can call", () => {
  const allowed = (environment: Record<string, string>) => {
    const { flawOf } = makeAddressPolicy(readConfig(environment).callbackAllowed);
    return ["127.0.0.1", "10.0.0.1"].map((each) => flawOf(each) === null);
  };
  const nothing = [false, false];
  assert.deepEqual(allowed({ WEBHOOK_ALLOW_CIDRS: "10.0.0.0/8" }), [true, false]);
  assert.deepEqual(allowed({ HOST: "::1" }), [true, false]);
  assert.deepEqual(allowed({ HOST: "0.0.0.0" }), nothing);
  assert.deepEqual(allowed({ HOST: "::" }), nothing);
  assert.deepEqual(allowed({ PUBLIC_URL: "https://approvals.example" }), nothing);
  const database = { DATABASE_URL: "postgres://x/y", SECRET_KEY: secretKey };
  assert.deepEqual(allowed({ ...database, WEBHOOK_ALLOW_CIDRS: "10.0.0.0/8" }), nothing);
  assert.deepEqual(allowed({ ...database, CALLBACK_ALLOW_CIDRS: "10.0.0.0/8" }), [false, true]);
});

test("proxies are trusted as they are named, and none are when told so", () => {
  const isTrusted = (text: string, address: string) =>
    isWithinCidrs(address, readConfig({ TRUSTED_PROXIES: text }).trustedProxies);
  const named = "192.0.2.1, 2001:db8::/32";
  for (const [text, address, expected] of [
    [named, "192.0.2.1", true],
    [named, "2001:db8::7", true],
    [named, "127.0.0.1", false],
    ["none", "127.0.0.1", false],
  ] as const) {
    assert.equal(isTrusted(text, address), expected, `${text}: ${address}`);
  }
  for (const text of ["proxy.example", "10.0.0.0/33", "10.0.0.1,", "none,10.0.0.1"]) {
    assert.throws(
      () => readConfig({ TRUSTED_PROXIES: text }),
      /TRUSTED_PROXIES: must be a list of addresses and ranges, .* or the word none/,
      text,
    );
  }
});

test("an identity provider is set up whole or not at all, and over https unless it is on this machine", () => {
  const OIDC_ISSUER = "https://login.example.com";
  const whole = { OIDC_ISSUER, OIDC_CLIENT_ID: "countersign", OIDC_CLIENT_SECRET: "s3cret" };
  const expected = { issuer: OIDC_ISSUER, clientId: "countersign", clientSecret: "s3cret" };
  const names = { name: "your company", isEmailTrusted: false };
  assert.deepEqual(readConfig(whole).oidc, { ...expected, ...names });
  assert.equal(readConfig({ ...whole, OIDC_NAME: "Acme" }).oidc?.name, "Acme");
  for (const name of Object.keys(whole)) {
    assert.throws(
      () => readConfig({ ...whole, [name]: "" }),
      new RegExp(`^OperatorFault: ${name}:`),
    );
  }
  for (const alone of [{ OIDC_NAME: "Acme" }, { OIDC_TRUST_EMAIL: "true" }]) {
    assert.throws(() => readConfig(alone), /OIDC_ISSUER, OIDC_CLIENT_ID/);
  }
  for (const [text, isTrusted] of [
    ["true", true],
    ["false", false],
    ["", false],
  ] as const) {
    const { oidc } = readConfig({ ...whole, OIDC_TRUST_EMAIL: text });
    assert.equal(oidc?.isEmailTrusted, isTrusted, text);
  }
  assert.throws(
    () => readConfig({ ...whole, OIDC_TRUST_EMAIL: "yes" }),
    /OIDC_TRUST_EMAIL: must be true or false/,
  );
  for (const issuer of [
    "http://login.example.com",
    "login.example.com",
    `${OIDC_ISSUER}/?a=b`,
    `${OIDC_ISSUER}/.well-known/openid-configuration`,
    "https://login.microsoftonline.com/common/v2.0",
    "https://login.microsoftonline.com/organizations/v2.0",
  ]) {
    assert.throws(() => readConfig({ ...whole, OIDC_ISSUER: issuer }), /OIDC_ISSUER: must/, issuer);
  }
  const local = "http://localhost:8080/realms/acme";
  assert.equal(readConfig({ ...whole, OIDC_ISSUER: local }).oidc?.issuer, local);
});

test("every wrong value is named at once", () => {
  assert.throws(
    () =>
      readConfig({
        PORT: "abc",
        LOG_LEVEL: "loud",
        PUBLIC_URL: "ftp://x",
        DATABASE_URL: "mysql://x",
        RATE_LIMIT: "-1",
        TRUSTED_PROXIES: "all",
        ROLE: "boss",
        SMTP_URL: "http://mail.example",
        MAIL_FROM: "a@b.example, c@d.example",
        WEBHOOK_ALLOW_CIDRS: "10.0.0.0/99",
        CALLBACK_ALLOW_CIDRS: "10.0.0.0/99",
        WEBHOOK_RETRY_DELAYS: "1s,2s,3s",
      }),
    (error: Error) => {
      assert.ok(error instanceof OperatorFault);
      const names =
        "PORT LOG_LEVEL PUBLIC_URL DATABASE_URL RATE_LIMIT TRUSTED_PROXIES ROLE SMTP_URL MAIL_FROM WEBHOOK_ALLOW_CIDRS CALLBACK_ALLOW_CIDRS WEBHOOK_RETRY_DELAYS";
      for (const name of names.split(" ")) {
        assert.ok(error.message.includes(name), `${name} is missing in: ${error.message}`);
      }
      assert.equal(error.message.includes("\n"), false);
      return true;
    },
  );
});

test("an external database needs a secret key of 32 bytes", () => {
  const DATABASE_URL = "postgres://x/y";
  assert.throws(() => readConfig({ DATABASE_URL }), /SECRET_KEY is required/);
  assert.throws(() => readConfig({ DATABASE_URL, SECRET_KEY: "short" }), /32 bytes/);
  const rotated = readConfig({
    DATABASE_URL,
    SECRET_KEY: `${secretKey},${randomBytes(32).toString("base64")}`,
  });
  assert.equal(rotated.keyring?.all.length, 2);
});

test("tokens of Slack are sent over TLS, or to this machine", () => {
  const { slackApiUrl } = readConfig({ SLACK_API_URL: "https://proxy.example/slack" });
  assert.equal(slackApiUrl, "https://proxy.example/slack/");
  assert.equal(
    readConfig({ SLACK_API_URL: "http://127.0.0.1:9/api/" }).slackApiUrl,
    "http://127.0.0.1:9/api/",
  );
  for (const text of ["http://proxy.example/", "slack.com", "ftp://slack.com/"]) {
    assert.throws(() => readConfig({ SLACK_API_URL: text }), /SLACK_API_URL/, text);
  }
});

test("metrics are off unless a port or a token is set, and a token is long enough", () => {
  assert.equal(readConfig({ METRICS_HOST: "10.0.0.1" }).metrics, null);
  const token = "x".repeat(16);
  assert.deepEqual(readConfig({ METRICS_PORT: "9464" }).metrics, {
    ...{ host: "127.0.0.1", port: 9464, token: null },
  });
  assert.deepEqual(readConfig({ METRICS_TOKEN: token }).metrics, {
    ...{ host: "127.0.0.1", port: null, token },
  });
  assert.throws(() => readConfig({ METRICS_TOKEN: "short" }), /METRICS_TOKEN.*16 to 200/);
  assert.throws(() => readConfig({ METRICS_TOKEN: "has a space in it, it has" }), /METRICS_TOKEN/);
  assert.throws(() => readConfig({ METRICS_TOKEN: token, ROLE: "worker" }), /METRICS_PORT/);
  assert.ok(readConfig({ METRICS_TOKEN: token, METRICS_PORT: "1", ROLE: "worker" }).metrics);
});

test("two ports of one process that are the same are refused by their names", () => {
  const same = { PORT: "3000", PROBE_PORT: "3000", METRICS_PORT: "9464" };
  assert.throws(() => readConfig(same), /PROBE_PORT: 3000 is PORT, too/);
  assert.throws(() => readConfig({ METRICS_PORT: "3000" }), /METRICS_PORT: 3000 is PORT, too/);
  const probes = { PROBE_PORT: "9464", METRICS_PORT: "9464" };
  assert.throws(() => readConfig(probes), /METRICS_PORT: 9464 is PROBE_PORT, too/);
  assert.throws(() => readConfig({ ...probes, HOST: "0.0.0.0" }), /PROBE_PORT/);
  // A worker takes no PORT, two addresses have a port each, and the system chooses for 0.
  assert.equal(readConfig({ ...same, ROLE: "worker" }).probePort, 3000);
  assert.equal(readConfig({ ...probes, HOST: "10.0.0.1" }).probePort, 9464);
  assert.equal(readConfig({ PORT: "0", PROBE_PORT: "0", METRICS_PORT: "0" }).probePort, 0);
});

test("an address of a database is refused in words, and other ones go with DATABASE_URL alone", () => {
  const several = "postgres://u@h1:5432,h2:5432/db?target_session_attrs=read-write";
  const SECRET_KEY = secretKey;
  const config = readConfig({ DATABASE_URL: several, DATABASE_DIRECT_URL: several, SECRET_KEY });
  assert.deepEqual([config.databaseUrl, config.databaseDirectUrl], [several, several]);
  const standby = several.replace("read-write", "standby");
  assert.throws(() => readConfig({ DATABASE_URL: standby, SECRET_KEY }), /DATABASE_URL: .*standby/);
  const broken = "postgres://u@h1:5432,h2:x/db";
  assert.throws(() => readConfig({ DATABASE_URL: broken, SECRET_KEY }), /not a connection string/);
  for (const name of ["DATABASE_DIRECT_URL", "DATABASE_OWNER_URL"]) {
    assert.throws(
      () => readConfig({ [name]: several }),
      new RegExp(`${name} goes with DATABASE_URL`),
    );
  }
});
