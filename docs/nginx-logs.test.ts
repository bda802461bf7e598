// The documented nginx in front of a service that is away: whatever it logs, no review link and no sign-in code is in
// it. Runs where nginx is installed.

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../server/test/patience.ts";

const waitMs = 300_000;
const hasNginx = spawnSync("nginx", ["-v"]).status === 0;
const skip = hasNginx ? false : "nginx is not installed here";

const folder = mkdtempSync(join(tmpdir(), "cs-nginx-"));
let nginx: ChildProcess | null = null;
after(async () => {
  if (nginx !== null && nginx.exitCode === null) {
    nginx.kill("SIGQUIT");
    await once(nginx, "close");
  }
  rmSync(folder, { recursive: true, force: true });
});

test("the documented nginx logs calls and faults, and no token, be the service away or cut off", {
  skip,
  timeout: waitMs,
}, async () => {
  // Takes every call and hangs up, as a service that is killed does.
  const upstream = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.destroy());
  });
  const upstreamPort = await listen(upstream);
  const port = await freePort();
  nginx = startNginx(port, upstreamPort);
  const call = async (path: string, method = "GET", bytes = 100_000) => {
    const body = method === "POST" ? { body: "x".repeat(bytes) } : {};
    return (await fetch(`http://127.0.0.1:${port}${path}`, { method, ...body })).status;
  };
  await until(() => call("/healthz").catch(() => null), "nginx answers");

  const token = "dG9rZW4tb2YtYS1yZXZpZXctbGluay1pbi1uZ2lueA4";
  const callOnce = async (mark: string) => {
    for (const path of [`/review/${token}`, `//review/${token}`, `/%72eview/${token}`]) {
      assert.equal(await call(path), 502);
    }
    assert.equal(await call(`/review/${token}?code=${token}`), 502);
    assert.equal(await call(`/review/${token}/decision`, "POST"), 502);
    // Refused by nginx itself; the answer may come while the body is still being sent.
    await call(`/review/${token}/decision`, "POST", 6_000_000).catch(() => {});
    assert.equal(await call(`/app/sign-in/oidc/callback?code=${token}&state=${token}`), 502);
    assert.equal(await call(`/v1/requests/${mark}`), 502);
  };
  await callOnce("req_hung_up");
  await new Promise((resolve) => upstream.close(resolve));
  await callOnce("req_away");

  const logs = () =>
    ["access.log", "error.log"].map((name) => readFileSync(join(folder, name), "utf8"));
  // It logs an answer after it was sent; both logs must be complete before the token can be missed in them.
  await until(() => logs().every((text) => text.includes("req_away")), "both logs");
  for (const text of logs()) {
    assert.match(text, /req_hung_up/);
    assert.doesNotMatch(text, new RegExp(token));
  }
});

/** The very block of the documentation, with another port, without TLS, and in front of this test. */
function startNginx(port: number, upstreamPort: number): ChildProcess {
  const page = readFileSync(join(import.meta.dirname, "operating.md"), "utf8");
  const [, block = ""] = /```nginx\n([\s\S]*?)```/.exec(page) ?? [];
  const server = block
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
    .replaceAll(/^\s*ssl_certificate.*$/gm, "")
    .replaceAll("http://127.0.0.1:3000", `http://127.0.0.1:${upstreamPort}`);
  assert.match(server, /proxy_pass http/);
  mkdirSync(join(folder, "temporary"));
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(folder, "temporary")};`)
    .join("\n");
  const configuration = `
    daemon off; master_process off; pid ${join(folder, "pid")};
    error_log ${join(folder, "error.log")};
    events {}
    http { access_log ${join(folder, "access.log")}; ${places}\n${server} }`;
  writeFileSync(join(folder, "nginx.conf"), configuration);
  const options = ["-p", folder, "-c", join(folder, "nginx.conf")];
  const child = spawn("nginx", [...options, "-e", join(folder, "error.log")], { stdio: "inherit" });
  return child;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
