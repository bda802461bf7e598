import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findSecretKey, type Keyring, parseKeyring } from "../src/domain/keyring.ts";
import { readOrMakeSecretKey, withSecretKeyOfFile } from "../src/storage/secret-key-file.ts";

const folder = await mkdtemp(join(tmpdir(), "countersign-key-"));
after(() => rm(folder, { recursive: true }));

test("a SECRET_KEY that is set later is used for what is new, and the key made before still opens the rest", async () => {
  const made = await readOrMakeSecretKey(folder);
  const given = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  const both = await withSecretKeyOfFile(given, folder);
  assert.equal(both.current.id, given.current.id);
  assert.ok(findSecretKey(both, made.current.id));
  const again = await withSecretKeyOfFile(both, folder);
  assert.equal(again.all.length, 2);
});

test("where no key was made, those given are all there are", async () => {
  const given = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  assert.deepEqual(await withSecretKeyOfFile(given, join(folder, "nowhere")), given);
});
