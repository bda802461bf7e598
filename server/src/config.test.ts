import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { readConfig } from "./config.ts";
import { OperatorFault } from "./domain/operator-fault.ts";

const secretKey = randomBytes(32).toString("base64");

test("an empty environment gives the documented defaults", () => {
  const config = readConfig({}, false);
  assert.deepEqual(
    { ...config, dataDir: config.dataDir.endsWith("/data") },
    {
      host: "127.0.0.1",
      port: 3000,
      publicUrl: "http://localhost:3000",
      databaseUrl: null,
      databaseConnectionsMax: 10,
      dataDir: true,
      keyring: null,
      rateLimit: { perSecond: 100, burst: 200 },
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

test("every wrong value is named at once", () => {
  assert.throws(
    () =>
      readConfig({
        PORT: "abc",
        LOG_LEVEL: "loud",
        PUBLIC_URL: "ftp://x",
        DATABASE_URL: "mysql://x",
        RATE_LIMIT: "-1",
      }),
    (error: Error) => {
      assert.ok(error instanceof OperatorFault);
      for (const name of ["PORT", "LOG_LEVEL", "PUBLIC_URL", "DATABASE_URL", "RATE_LIMIT"]) {
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
