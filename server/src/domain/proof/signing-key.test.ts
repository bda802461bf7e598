import assert from "node:assert/strict";
import { test } from "node:test";
import { keySetOf, signerOf, thumbprintOf } from "./signing-key.ts";

/** The key of RFC 8037, appendix A. */
const publicKey = Buffer.from("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "base64url");
const seed = Buffer.from("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", "base64url");

test("the thumbprint is that of RFC 8037, appendix A.3", () => {
  assert.equal(thumbprintOf(publicKey), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
});

test("the signature is that of RFC 8037, appendix A.4", () => {
  const signer = signerOf(publicKey, seed);
  const signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
  assert.equal(
    signer.sign(Buffer.from(signed)).toString("base64url"),
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
  );
  assert.equal(signer.id, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
});

test("the key set holds current and retired keys without alg, and only names revoked ones", () => {
  const createdAt = new Date(1_000_999);
  const key = { publicKey, createdAt, retiredAt: null, revokedAt: null };
  const at = new Date(2_000_001);
  const set = keySetOf([
    { ...key, id: "current" },
    { ...key, id: "retired", retiredAt: at },
    { ...key, id: "revoked", retiredAt: at, revokedAt: at },
  ]);
  const jwk = { kty: "OKP", crv: "Ed25519", x: publicKey.toString("base64url") };
  assert.deepEqual(set, {
    keys: [
      { ...jwk, kid: "current", use: "sig", iat: 1000 },
      { ...jwk, kid: "retired", use: "sig", iat: 1000, retiredAt: 2001 },
    ],
    revoked: [{ kid: "revoked", revokedAt: 2000 }],
  });
});
