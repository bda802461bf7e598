import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import {
  checkpointBody,
  cosignatureV1,
  ed25519,
  formatVerifierKey,
  openNote,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  signNote,
  type VerifierKey,
  verifierKey,
  withSignatures,
} from "./note.ts";

// The examples of C2SP's signed-note.md and tlog-checkpoint.md (https://github.com/C2SP/C2SP, CC BY 4.0).
const exampleKey = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const exampleNote = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
const exampleCheckpoint = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;
const examplePoem = `Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
`;

const parsedKey = parseVerifierKey(exampleKey) as VerifierKey;

test("C2SP's example of a note is verified by its key, and by no other", () => {
  assert.equal(formatVerifierKey(parsedKey), exampleKey);
  assert.equal(openNote(exampleNote, [parsedKey]), "This is an example message.\n");
  const other = verifierKey("example.com/foo", ed25519, Buffer.alloc(32, 7));
  assert.equal(openNote(exampleNote, [other]), null);
  assert.equal(openNote(exampleNote, []), null);
  assert.equal(
    openNote(exampleNote.replace("example message", "exemple message"), [parsedKey]),
    null,
  );
});

test("C2SP's other examples are read: a text with empty lines, and a checkpoint", () => {
  const poem = parseNote(examplePoem);
  assert.ok(poem?.text.endsWith("sole:\n\ned è subito sera.\n"));
  assert.equal(poem?.signatures[0]?.name, "quasimodo.example/salvatore");
  assert.equal(poem?.signatures[0]?.keyId.toString("hex"), "367ba04b");
  const note = parseNote(exampleCheckpoint);
  const checkpoint = parseCheckpoint(note?.text ?? "");
  assert.equal(checkpoint?.origin, "example.com/behind-the-sofa");
  assert.equal(checkpoint?.size, 20852163);
  assert.equal(checkpoint && checkpointBody(checkpoint), note?.text);
});

test("a signed note verifies, alone and beside signatures of strangers", () => {
  const { signer, key } = makeSigner("log.example/log");
  const note = signNote("log.example/log\n1\ntext\n", "log.example/log", signer);
  const stranger = makeSigner("witness.example");
  const line = parseNote(signNote("another text\n", "witness.example", stranger.signer));
  const cosigned = withSignatures(note, [line?.signatures[0]?.line ?? ""]);
  assert.equal(openNote(note, [key]), "log.example/log\n1\ntext\n");
  assert.equal(openNote(cosigned, [key]), "log.example/log\n1\ntext\n");
  // A signature of a known key that doesn't hold spoils the note.
  assert.equal(openNote(cosigned, [key, stranger.key]), null);
  const asWitness = verifierKey(key.name, cosignatureV1, key.publicKey);
  assert.equal(openNote(note, [{ ...asWitness, id: key.id }]), null);
});

test("what isn't a note is none", () => {
  const [text = "", line = ""] = exampleNote.split("\n\n");
  for (const flawed of [
    "",
    "\n",
    "\n\n",
    `${text}\n`,
    `${text}\n\n`,
    `${text}\n\n${line.slice(0, -1)}`,
    `${text}\n${line}`,
    `${text}\r\n\n${line}`,
    `${text}\u0000\n\n${line}`,
    `${text}\ud800\n\n${line}`,
    `${text}\n\n${line.replace("—", "-")}`,
    `${text}\n\n${line.replace("— ", "—  ")}`,
    `${text}\n\n${line.replace("=\n", "\n")}`,
    `${text}\n\n${line.replace("foo ", "foo+ ")}`,
    `${text}\n\n${line.replace("foo ", "f\u00a0oo ")}`,
    `${text}\n\n${line}more\n`,
    `${text}\n\n— example.com/foo AAAAAA==\n`,
    `${text}\n\n${line.repeat(101)}`,
  ]) {
    assert.equal(parseNote(flawed), null, JSON.stringify(flawed));
  }
  assert.equal(parseNote(`${text}\n\n${line.repeat(16)}`)?.signatures.length, 16);
});

test("what isn't a verifier key is none", () => {
  for (const flawed of [
    "",
    "example.com/foo",
    exampleKey.replace("530d903a", "530d903b"),
    exampleKey.replace("530d903a", "530D903A"),
    exampleKey.replace("+Ae", "+Ag"),
    exampleKey.slice(0, -1),
    `${exampleKey}A`,
    exampleKey.replace("example.com/foo", "example.com/f oo"),
    ` ${exampleKey}`,
    `${exampleKey}\n`,
  ]) {
    assert.equal(parseVerifierKey(flawed), null, JSON.stringify(flawed));
  }
});

test("what isn't a checkpoint is none", () => {
  const root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
  for (const flawed of [
    "",
    `o\n1\n${root}`,
    `\n1\n${root}\n`,
    `o\n01\n${root}\n`,
    `o\n-1\n${root}\n`,
    `o\n9999999999999999\n${root}\n`,
    `o\n1\n${root.slice(4)}\n`,
    `o\n1\n${root.replace("=", "")}\n`,
    `o\n1\n${root}\n\nmore\n`,
    `o\n1\n`,
  ]) {
    assert.equal(parseCheckpoint(flawed), null, JSON.stringify(flawed));
  }
  assert.equal(parseCheckpoint(`o\n0\n${root}\nmore\n`)?.size, 0);
});

function makeSigner(name: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return {
    signer: { publicKey: raw, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) },
    key: verifierKey(name, ed25519, raw),
  };
}
