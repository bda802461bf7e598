// The newest migration says which older program works beside its schema. Git's history has that program: it runs here on
// the new schema, beside a node of this one. Where there is no such history, as in an unpacked copy, the test is skipped.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { migrationsFolder, numberOf, readMigrations } from "../src/database/migration-files.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import { environmentOn, startProgram, untilWritten } from "./test-program.ts";
import { decide, findReviewer } from "./test-review.ts";
import { makeWorkspace, minimalBody, startNode } from "./test-service.ts";
import { makeEndpoint, startReceiver } from "./test-worker.ts";

const root = join(import.meta.dirname, "..", "..");
/** Programs from before this migration don't look for what newer ones say. */
const firstThatLooks = "0033";

const git = (...words: string[]) =>
  execFileSync("git", words, { cwd: root, stdio: ["ignore", "pipe", "ignore"] })
    .toString()
    .trim();

type Older = { commit: string; newest: string };

/** The last commit whose newest migration is the one that the newest one of this program names; or why there is none. */
async function findOlder(): Promise<Older | { missing: string }> {
  const migrations = await readMigrations(migrationsFolder);
  const { name: newest = "", worksBeside = null } = migrations.at(-1) ?? {};
  if (worksBeside === null) return { missing: `${newest} works beside no older program` };
  const next = migrations.find(({ name }) => numberOf(name) > worksBeside);
  const path = `server/migrations/${next?.name}`;
  try {
    // The first to have it, which is not the first that git lists where it was added twice.
    const added = git("log", "--diff-filter=A", "--format=%H", "--", path).split("\n").at(-1);
    const commit = git("rev-parse", "--verify", added ? `${added}^` : "HEAD");
    const names = git("ls-tree", "--name-only", commit, "server/migrations/").split("\n");
    const last = names.filter((name) => name.endsWith(".sql")).at(-1) ?? "";
    const found = numberOf(last.slice("server/migrations/".length));
    return found === worksBeside
      ? { commit, newest: found }
      : { missing: `git's history ends before the program of ${worksBeside}` };
  } catch {
    return { missing: "there is no git, or too little of its history" };
  }
}

const folder = mkdtempSync(join(tmpdir(), "cs-older-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** It runs with what is installed here: the packages of that time may be gone. */
function unpack(commit: string): string {
  const archive = join(folder, "older.tar");
  execFileSync("git", ["archive", "--output", archive, commit, "server", "sdk", "package.json"], {
    cwd: root,
  });
  execFileSync("tar", ["-x", "-f", archive, "-C", folder]);
  for (const path of ["node_modules", "web/dist"]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
  return join(folder, "server", "bin", "countersign.mjs");
}

const older = await findOlder();
const skip =
  "missing" in older
    ? older.missing
    : existsSync(join(root, "web", "dist", "manifest.json"))
      ? false
      : "the pages are not built";

test("the older program that the newest migration names does all of its work beside this one", {
  skip,
}, async () => {
  assert.ok(!("missing" in older));
  const program = unpack(older.commit);
  const database = await makeTestDatabase();
  const receiver = await startReceiver();
  const node = await startNode(database);
  const environment = {
    ...environmentOn(database.url),
    LOG_FORMAT: "json",
    PUBLIC_URL: "https://approvals.example",
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
  };
  const started = startProgram(environment, ["serve"], program);
  try {
    const { id: workspaceId, key } = await makeWorkspace(node.db);
    await makeEndpoint(node.db, workspaceId, receiver.url);
    const [, address] = await untilWritten(started, /"address":"(http:[^"]+)"[^\n]*"serving"/);
    const ask = async (method: string, path: string, body?: object) => {
      const reply = await fetch(`${address}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: reply.status, text: await reply.text() };
    };
    const ready = await ask("GET", "/readyz");
    assert.equal(ready.status, older.newest < firstThatLooks ? 503 : 200, ready.text);
    const theirs = await ask("POST", "/v1/requests", minimalBody);
    assert.equal(theirs.status, 201, theirs.text);
    const ours = await node.call("POST", "/v1/requests", { key, body: minimalBody });
    for (const id of [JSON.parse(theirs.text).id, ours.json.id]) {
      const { token } = await findReviewer(node.db, id);
      const decided = await decide(node.app, token, { verdict: "approve" });
      assert.equal(decided.status, 200, decided.text);
      const read = await ask("GET", `/v1/requests/${id}`);
      const { text } = await node.call("GET", `/v1/requests/${id}`, { key });
      assert.equal(read.text, text);
      const redeemed = await ask("POST", `/v1/requests/${id}/redeem`);
      assert.equal(redeemed.status, 200, redeemed.text);
      // Only the older program has a worker here.
      await until(
        () =>
          receiver.heard.some(
            ({ json }) => json.event === "request.approved" && json.data.id === id,
          ),
        "the older worker's webhook",
      );
    }
    started.child.kill("SIGTERM");
    assert.deepEqual(await started.ended, { code: 0, signal: null }, started.errors);
    assert.doesNotMatch(started.output, /"level":"error"/);
  } finally {
    started.child.kill("SIGKILL");
    await node.stop();
    await receiver.close();
    await database.drop();
  }
});
