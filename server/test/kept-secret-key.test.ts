import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findSecretKey, type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { readOrMakeSecretKey, withSecretKeyOfFile } from "../src/storage/secret-key-file.ts";

const folder = await mkdtemp(join(tmpdir(), "countersign-key-"));
after(() => rm(folder, { recursive: true }));

test("a SECRET_KEY that is set later is used for what is new, and the key made before still opens the rest", async () => {
  const made = await readOrMakeSecretKey(folder, async () => false);
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

test("a key that is gone is never made anew for a database in use; a first start that was interrupted makes it", async () => {
  const dataDir = await mkdtemp(join(folder, "lost-"));
  await assert.rejects(
    readOrMakeSecretKey(dataDir, async () => true),
    /neither .*secret-key nor a SECRET_KEY.*restore the file from the backup/,
  );
  assert.deepEqual(await readdir(dataDir), []);
  const made = await readOrMakeSecretKey(dataDir, async () => false);
  const again = await readOrMakeSecretKey(dataDir, async () => true);
  assert.equal(again.current.id, made.current.id);
});

test("of two first starts at once, the one that looks late takes the other's key", async () => {
  const dataDir = await mkdtemp(join(folder, "late-"));
  let made: Keyring | null = null;
  const taken = await readOrMakeSecretKey(dataDir, async () => {
    made = await readOrMakeSecretKey(dataDir, async () => false);
    return true;
  });
  assert.equal(taken.current.id, (made as Keyring | null)?.current.id);
});
