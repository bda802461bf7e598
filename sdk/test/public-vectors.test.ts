// The verifier on vectors of others: RFC 8032, 8037, 7515 and 7638, Wycheproof, transparency-dev/merkle, C2SP and WebAuthn.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { concat, fromBase64Url, textOf, toBase64Url, utf8 } from "../src/proof/bytes.ts";
import { isSignedByCose } from "../src/proof/cose.ts";
import { isSignedByEd25519 } from "../src/proof/ed25519.ts";
import { sha256 } from "../src/proof/hashing.ts";
import { thumbprintOf } from "../src/proof/key-set.ts";
import { parseLogProof } from "../src/proof/log-proof.ts";
import { isSignedNote, parseCheckpoint, parseNote, parseNoteKey } from "../src/proof/note.ts";
import { receipts } from "../src/proof/proof.ts";
import { isConsistent, isIncluded } from "../src/proof/tree.ts";

function read<File>(name: string): File {
  return JSON.parse(readFileSync(join(import.meta.dirname, "public-vectors", name), "utf8"));
}

function hex(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** RFC 8032, section 7.1. */
const rfc8032 = [
  {
    publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    message: "",
    signature:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    message: "72",
    signature:
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
  {
    publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    message: "af82",
    signature:
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  },
];

test("the signatures of RFC 8032 verify, and not with a bit changed", async () => {
  for (const { publicKey, message, signature } of rfc8032) {
    const [key, bytes, signed] = [hex(publicKey), hex(message), hex(signature)];
    assert.equal(await isSignedByEd25519(key, bytes, signed), true);
    assert.equal(await isSignedByEd25519(key, concat(bytes, Uint8Array.of(0)), signed), false);
    signed[0] = (signed[0] ?? 0) ^ 1;
    assert.equal(await isSignedByEd25519(key, bytes, signed), false);
  }
});

test("the signature and the thumbprint of RFC 8037 are ours, and its deprecated algorithm is refused", async () => {
  const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  const jws =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
  const key = fromBase64Url(x) as Uint8Array;
  const end = jws.lastIndexOf(".");
  const signature = fromBase64Url(jws.slice(end + 1)) as Uint8Array;
  assert.equal(await isSignedByEd25519(key, utf8(jws.slice(0, end)), signature), true);
  const kid = await thumbprintOf(key);
  assert.equal(kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  const jwks = { keys: [{ kty: "OKP", crv: "Ed25519", x, kid }] };
  const said = await receipts.verify(jws, { jwks, issuer: "joe", audience: "x" });
  assert.equal(said.ok ? "ok" : said.reason, "wrong_type");
});

test("base64url is that of RFC 7515, and its tokens with a shared secret or none are refused", async () => {
  assert.equal(toBase64Url(Uint8Array.of(3, 236, 255, 224, 193)), "A-z_4ME");
  assert.deepEqual(fromBase64Url("A-z_4ME"), Uint8Array.of(3, 236, 255, 224, 193));
  const claims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
  const hs256 = `eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.${claims}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk`;
  const none = `eyJhbGciOiJub25lIn0.${claims}.`;
  for (const token of [hs256, none]) {
    const options = { jwks: { keys: [] }, issuer: "joe", audience: "x" };
    const said = await receipts.verify(token, options);
    assert.equal(said.ok, false);
  }
});

test("the hash of RFC 7638's example is its thumbprint", async () => {
  const text =
    '{"e":"AQAB","kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}';
  assert.equal(
    toBase64Url(await sha256(utf8(text))),
    "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
  );
});

type Wycheproof = {
  groups: {
    publicKey: string;
    tests: { tcId: number; comment: string; msg: string; sig: string; result: string }[];
  }[];
};

test("Wycheproof's signatures are believed exactly where they are valid", async () => {
  let count = 0;
  for (const { publicKey, tests } of read<Wycheproof>("wycheproof-ed25519.json").groups) {
    for (const { tcId, comment, msg, sig, result } of tests) {
      const said = await isSignedByEd25519(hex(publicKey), hex(msg), hex(sig));
      assert.equal(said, result === "valid", `${tcId}: ${comment}`);
      count += 1;
    }
  }
  assert.equal(count, 151);
});

type Merkle = {
  inclusion: {
    leafIdx: number;
    treeSize: number;
    root: string;
    leafHash: string;
    proof: string[] | null;
    desc: string;
    wantErr: boolean;
  }[];
  consistency: {
    size1: number;
    size2: number;
    root1: string;
    root2: string;
    proof: string[] | null;
    desc: string;
    wantErr: boolean;
  }[];
};

function base64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

test("transparency-dev's proofs are believed exactly where they hold", async () => {
  const { inclusion, consistency } = read<Merkle>("merkle.json");
  for (const { leafIdx, treeSize, root, leafHash, proof, desc, wantErr } of inclusion) {
    const said = await isIncluded({
      ...{ index: leafIdx, size: treeSize, root: base64(root), leaf: base64(leafHash) },
      proof: (proof ?? []).map(base64),
    });
    assert.equal(said, !wantErr, `inclusion: ${desc}`);
  }
  for (const { size1, size2, root1, root2, proof, desc, wantErr } of consistency) {
    const said = await isConsistent({
      ...{ oldSize: size1, newSize: size2, oldRoot: base64(root1), newRoot: base64(root2) },
      proof: (proof ?? []).map(base64),
    });
    assert.equal(said, !wantErr, `consistency: ${desc}`);
  }
  assert.deepEqual([inclusion.length, consistency.length], [98, 98]);
});

type C2sp = Record<
  "verifierKey" | "signedNote" | "poem" | "checkpoint" | "cosignedCheckpoint" | "abbreviatedProof",
  string
>;

test("the examples of C2SP are read, and the one with a key verifies", async () => {
  const examples = read<C2sp>("c2sp.json");
  const note = parseNote(examples.signedNote);
  const key = await parseNoteKey(examples.verifierKey);
  assert.ok(note && key);
  assert.equal(await isSignedNote(note, key), true);
  assert.equal(await isSignedNote({ ...note, text: note.text.replace("an", "no") }, key), false);
  assert.equal(await parseNoteKey(examples.verifierKey.replace("530d", "530e")), null);
  assert.equal(parseNote(examples.poem)?.text.split("\n").length, 5);
  const checkpoint = parseCheckpoint(parseNote(examples.checkpoint)?.text ?? "");
  assert.equal(checkpoint?.size, 20_852_163);
  assert.equal(parseNote(examples.cosignedCheckpoint)?.signatures.length, 2);
  // Its signatures and its extra data are cut short.
  assert.equal(parseLogProof(examples.abbreviatedProof), null);
  const whole = examples.abbreviatedProof
    .replace(/^extra .*\n/m, "")
    .replace(/^\u2014 [\s\S]*$/m, examples.checkpoint.split("\n").slice(-2).join("\n"));
  const proof = parseLogProof(whole);
  assert.deepEqual([proof?.index, proof?.hashes.length], [73_894, 5]);
});

type WebAuthn = {
  cases: (Record<
    "name" | "publicKey" | "challenge" | "authenticatorData" | "clientDataJSON" | "signature",
    string
  > & { isSupported: boolean })[];
};

test("WebAuthn's own assertions verify, with each algorithm that the service asks for", async () => {
  const { cases } = read<WebAuthn>("webauthn.json");
  for (const { name, publicKey, isSupported, ...rest } of cases) {
    const client = hex(rest.clientDataJSON);
    const signed = concat(hex(rest.authenticatorData), await sha256(client));
    const said = await isSignedByCose(hex(publicKey), signed, hex(rest.signature));
    assert.equal(said, isSupported, name);
    const { challenge } = JSON.parse(textOf(client) ?? "");
    assert.deepEqual(fromBase64Url(challenge), hex(rest.challenge), name);
    const other = concat(hex(rest.authenticatorData), await sha256(utf8("{}")));
    assert.equal(await isSignedByCose(hex(publicKey), other, hex(rest.signature)), false, name);
  }
  assert.equal(cases.filter(({ isSupported }) => isSupported).length, 12);
});
