import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { curlOfFirstRequest } from "./first-request.ts";

const request = {
  apiUrl: "http://localhost:3000",
  key: "cs_live_abc",
  notify: "o'neil@example.com",
};

test("the line runs as it is pasted, whatever stands in the address", () => {
  const line = curlOfFirstRequest(request).replace(/^curl /, "printf '%s\\n' ");
  const said = execFileSync("sh", ["-c", line], { encoding: "utf8" }).trim().split("\n");
  assert.equal(said[0], "http://localhost:3000/v1/requests");
  assert.ok(said.includes("Authorization: Bearer cs_live_abc"));
  assert.equal(JSON.parse(said.at(-1) ?? "").notify, "o'neil@example.com");
});

test("the address of the API may be given with or without its path", () => {
  for (const end of ["", "/", "/v1", "/v1/", "/v1/requests"]) {
    const line = curlOfFirstRequest({ ...request, apiUrl: `https://a.example${end}` });
    assert.match(line, /^curl 'https:\/\/a\.example\/v1\/requests' /);
  }
});
