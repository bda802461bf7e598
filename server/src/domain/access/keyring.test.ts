import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { flawOfKeyring, type Keyring, parseKeyring } from "./keyring.ts";

test("a missing key is told with everything that it made: endpoints, callbacks, receipts and links", () => {
  const keyring = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  const flaw = flawOfKeyring(keyring, ["0123456789ab"]) ?? "";
  assert.match(
    flaw,
    /^SECRET_KEY lacks the key 0123456789ab, with which secrets of endpoints, callbacks or channels/,
  );
  assert.match(flaw, /webhooks to these endpoints and callbacks of these workspaces fail until/);
  assert.match(flaw, /new receipts are signed with a new key/);
  assert.match(flaw, /links are no longer mailed/);
});
