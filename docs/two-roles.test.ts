// Runs the SQL with which operators are told to make the two roles, as an administrator of a PostgreSQL would.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { useEmbeddedPostgres } from "../server/src/database/embedded-postgres/embedded-postgres.ts";
import { environmentOn, jsonOf, runCommand } from "../server/test/test-program.ts";
import { asSuperuser } from "../server/test/test-superuser.ts";
import { codeBlocksOf } from "./test/code-block.ts";

const folder = mkdtempSync(join(tmpdir(), "cs-two-roles-"));
chmodSync(folder, 0o755); // PostgreSQL is another user's when this is root's
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

test("the documented SQL makes two roles with which the service can be migrated and run", async () => {
  const page = readFileSync(join(import.meta.dirname, "operating.md"), "utf8");
  const [block, ...more] = codeBlocksOf("docs/operating.md", page).filter(
    ({ language }) => language === "sql",
  );
  assert.deepEqual(more, [], "run these, too");
  const statements = block?.text.split(";\n").filter((each) => each.trim() !== "") ?? [];
  const dataDir = join(folder, "data");
  const log = { info: () => {}, warn: () => {} };
  const postgres = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
  assert.ok("connection" in postgres);
  try {
    const { host, port } = postgres.connection;
    // The embedded one has a database and a role of these names already.
    const own = statements.map((each) =>
      each
        .replace(/database countersign\b/, "database documented")
        .replace("countersign_service", "documented_service"),
    );
    await asSuperuser(dataDir, { host, port }, ...own);
    const at = (role: string, password: string) =>
      `postgres://${role}:${encodeURIComponent(password)}@localhost:${port}/documented?host=${encodeURIComponent(host)}`;
    const service = environmentOn(at("documented_service", "second secret"));
    const both = { ...service, DATABASE_OWNER_URL: at("countersign_owner", "first secret") };
    assert.ok(jsonOf(await runCommand(both, ["migrate", "--json"])).applied.length > 0);
    await runCommand(service, ["workspace", "create", "--name", "Acme"]);
    assert.equal(jsonOf(await runCommand(service, ["workspace", "list", "--json"])).length, 1);
    const findings: { check: string; state: string }[] = jsonOf(
      await runCommand(service, ["doctor", "--json"]),
    );
    assert.equal(findings.find(({ check }) => check === "role")?.state, "ok");
  } finally {
    await postgres.release();
  }
});
