import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { curlOfFirstRequest, keyVariable } from "./first-request.ts";

const request = {
  apiUrl: "http://localhost:3000/path",
  key: "cs_live_abc",
  notify: "o'neil@example.com",
};

/** The arguments that curl would get, each on a line of its own. */
function givenToCurl(line: string): string[] {
  const script = line.replace(/^curl /, "printf '%s\\n' ");
  const env = { ...process.env, [keyVariable]: "cs_live_kept" };
  return execFileSync("sh", ["-c", script], { encoding: "utf8", env }).trim().split("\n");
}

test("the line runs as it is pasted, whatever stands in the address", () => {
  const given = givenToCurl(curlOfFirstRequest(request));
  assert.equal(given[0], "http://localhost:3000/path/v1/requests");
  assert.ok(given.includes("Authorization: Bearer cs_live_abc"));
  assert.equal(JSON.parse(given.at(-1) ?? "").notify, "o'neil@example.com");
});

test("a key whose text is not known is put in by the shell", () => {
  const given = givenToCurl(curlOfFirstRequest({ ...request, key: null }));
  assert.ok(given.includes("Authorization: Bearer cs_live_kept"));
});
