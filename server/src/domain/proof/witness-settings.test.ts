import assert from "node:assert/strict";
import { test } from "node:test";
import { cosignatureV1, ed25519, formatVerifierKey, verifierKey } from "./note.ts";
import { parseWitnesses } from "./witness-settings.ts";

const vkey = (name: string, type = cosignatureV1) =>
  formatVerifierKey(verifierKey(name, type, Buffer.alloc(32, 7)));

test("witnesses are keys with addresses", () => {
  const text = `${vkey("w.example/1")} https://w.example/, ${vkey("w.example/2")}\thttp://10.0.0.1:8090/prefix`;
  const parsed = parseWitnesses(text);
  assert.ok(typeof parsed !== "string");
  assert.deepEqual(
    parsed.map(({ key, url }) => [key.name, url]),
    [
      ["w.example/1", "https://w.example/add-checkpoint"],
      ["w.example/2", "http://10.0.0.1:8090/prefix/add-checkpoint"],
    ],
  );
});

test("each flaw has its sentence", () => {
  const flaws: [string, RegExp][] = [
    ["nonsense", /must be a list of verifier keys/],
    [vkey("w.example/1"), /the address of w\.example\/1 must be a whole address/],
    [`${vkey("w.example/1")} ftp://w.example`, /must be a whole address/],
    [`${vkey("w.example/1")} https://a:b@w.example`, /user name or password/],
    [`${vkey("w.example/1")} https://w.example more`, /must be a list/],
    [`${vkey("w.example/1", ed25519)} https://w.example`, /the key of a log, not of a witness/],
    [`${vkey("w")} https://w.example,${vkey("w")} https://v.example`, /names w twice/],
    [
      Array.from({ length: 16 }, (_, at) => `${vkey(`w${at}`)} https://w.example`).join(),
      /at most 15/,
    ],
  ];
  for (const [text, pattern] of flaws) {
    assert.match(String(parseWitnesses(text)), pattern);
  }
});
