import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { openApi, openApiText } from "../src/http/docs/openapi.ts";
import { checkAnswer } from "./openapi-check.ts";
import { startService } from "./test-service.ts";

const redocly = join(import.meta.dirname, "..", "..", "node_modules", ".bin", "redocly");

test("the document is valid OpenAPI by a public linter's recommended rules", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-openapi-"));
  try {
    const file = join(folder, "openapi.json");
    await writeFile(file, openApiText);
    const environment = {
      ...process.env,
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
    };
    const { stdout, stderr } = await promisify(execFile)(redocly, ["lint", file], {
      env: environment,
      cwd: folder,
    });
    assert.match(stdout + stderr, /Your API description is valid/);
    assert.doesNotMatch(stdout + stderr, /warning/i);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the service answers the document, and every route it has is described", async () => {
  const service = await startService();
  try {
    const reply = await service.call("GET", "/v1/openapi.json");
    assert.deepEqual(reply.json, JSON.parse(JSON.stringify(openApi)));
  } finally {
    await service.stop();
  }
});

test("an answer that does not fit the document is noticed by the check", () => {
  const headers = {
    "x-request-id": "0".repeat(36),
    "content-type": "application/json; charset=utf-8",
  };
  const answer = (status: number, json: unknown) => ({
    status,
    headers,
    text: JSON.stringify(json),
    json,
  });
  const envelope = { error: { code: "not_found", message: "m" } };
  checkAnswer("GET", "/v1/requests/x", answer(404, envelope));
  assert.throws(
    () => checkAnswer("GET", "/v1/requests/x", answer(404, { error: "not_found" })),
    /does not fit/,
  );
  assert.throws(() => checkAnswer("GET", "/v1/requests/x", answer(418, envelope)), /not described/);
  assert.throws(
    () => checkAnswer("GET", "/v1/requests/x", answer(200, { id: "req_1" })),
    /does not fit/,
  );
  assert.throws(() =>
    checkAnswer("GET", "/v1/requests/x", { ...answer(404, envelope), headers: {} }),
  );
});
