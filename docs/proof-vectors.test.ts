// The published test vectors of receipts: through the SDK, through a verifier each in Python and Go, and through each
// function that the page tells people to copy.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { importJWK, type JWK, jwtVerify } from "jose";
import { pythonWith } from "../python/test/environment.ts";
import { flipped, makeVectors } from "../scripts/proof-vectors/make.ts";
import type { ReceiptCase } from "../scripts/proof-vectors/receipt-cases.ts";
import { fromBase64 } from "../sdk/src/proof/bytes.ts";
import { areSalted, readEntry } from "../sdk/src/proof/log-entry.ts";
import { isSignedNote, parseNote, parseNoteKey } from "../sdk/src/proof/note.ts";
import { type KeySet, ReceiptError, receipts } from "../sdk/src/proof/proof.ts";
import { isConsistent, isIncluded } from "../sdk/src/proof/tree.ts";
import { codeBlocksOf } from "./test/code-block.ts";

type Vectors = {
  keySets: Record<string, KeySet>;
  receipts: ReceiptCase[];
  flips: { of: ReceiptCase; says: [string, number][] };
  notes: { name: string; note: string; vkey: string; says: string }[];
  trees: { inclusion: Inclusion[]; consistency: Consistency[] };
  entries: {
    name: string;
    entry: string;
    field: string;
    text: string;
    salt: string;
    says: boolean;
  }[];
};
type Inclusion = Record<"index" | "size", number> &
  Record<"leaf" | "root", string> & { proof: string[]; says: boolean };
type Consistency = Record<"oldSize" | "newSize", number> &
  Record<"oldRoot" | "newRoot", string> & { proof: string[]; says: boolean };

const path = join(import.meta.dirname, "proof-vectors.json");
const text = readFileSync(path, "utf8");
const vectors = JSON.parse(text) as Vectors;
const runners = join(import.meta.dirname, "test", "proof-vectors");
const page = readFileSync(join(import.meta.dirname, "receipts.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "countersign-proof-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const flips = vectors.flips.says.flatMap(([word, times]) => Array<string>(times).fill(word));
const expected = [
  ...vectors.receipts.map(({ name, says }) => `${name}: ${says}`),
  ...flips.map((says, at) => `flip ${at}: ${says}`),
  ...vectors.notes.map(({ name, says }) => `note ${name}: ${says}`),
  ...vectors.trees.inclusion.map(({ says }, at) => `inclusion ${at}: ${says}`),
  ...vectors.trees.consistency.map(({ says }, at) => `consistency ${at}: ${says}`),
  ...vectors.entries.map(({ name, says }) => `entry ${name}: ${says}`),
];
const skipsGo = spawnSync("go", ["version"]).status === 0 ? false : "go is not installed here";
const python = await pythonWith(join(runners, "requirements.txt"));
const skipsPython = python === null && "cryptography and PyJWT can't be installed here";

test("the file is what its script makes", async () => {
  assert.deepEqual(vectors, JSON.parse(JSON.stringify(await makeVectors(text))));
});

test("there is a vector for every reason of the page, and no receipt is believed with any byte changed", () => {
  const said = new Set(vectors.receipts.map(({ says }) => says));
  for (const reason of reasonsOfPage()) assert.ok(said.has(reason), reason);
  assert.equal(flips.length, vectors.flips.of.receipt.length);
  assert.ok(flips.every((says) => !says.endsWith("-signed")));
});

test("the SDK says of each vector what it must", async () => {
  assert.deepEqual([...(await sayAll()), ...(await sayOfLog())], expected);
});

test("bytes are taken like their text, and a parsed payload or a forgotten option is refused", async () => {
  const { receipt, keySet, payload, ...rest } = vectors.receipts[0] as ReceiptCase;
  const options = { ...rest, jwks: vectors.keySets[keySet] as KeySet };
  const bytes = new TextEncoder().encode(payload ?? "");
  assert.equal((await receipts.assertApproved(receipt, bytes, options)).ok, true);
  await assert.rejects(receipts.assertApproved(receipt, "{}", options), (error) => {
    assert.ok(error instanceof ReceiptError);
    return error.code === "payload_differs";
  });
  const parsed = { amount: 1 } as unknown as string;
  await assert.rejects(receipts.assertApproved(receipt, parsed, options), TypeError);
  await assert.rejects(receipts.verify(receipt, { ...options, audience: "" }), TypeError);
  const forgotten = undefined as unknown as string;
  await assert.rejects(receipts.assertApproved(receipt, forgotten, options), TypeError);
  for (const name of ["payload", "jwks", "credentials", "proof", "witnesses"]) {
    const vague = { ...options, [name]: forgotten };
    await assert.rejects(receipts.verify(receipt, vague), TypeError, name);
  }
});

test("a verifier in Python says the same", { skip: skipsPython }, () => {
  const output = execFileSync(python ?? "", ["run.py", path], { ...running(runners) });
  assert.deepEqual(output.trimEnd().split("\n"), expected);
});

test("a verifier in Go says the same", { skip: skipsGo }, () => {
  const output = execFileSync("go", ["run", ".", path], { ...running(runners) });
  assert.deepEqual(output.trimEnd().split("\n"), expected);
});

test("jose verifies our signature", async () => {
  const { receipt, issuer, audience, now } = vectors.receipts[0] as ReceiptCase;
  const set = vectors.keySets.published as { keys: (JWK & { kid: string })[] };
  const { payload } = await jwtVerify(
    receipt,
    async ({ kid }) => importJWK(set.keys.find((key) => key.kid === kid) as JWK, "Ed25519"),
    {
      ...{ issuer, audience, typ: "countersign-receipt+jwt", algorithms: ["Ed25519"] },
      currentDate: new Date(now * 1_000),
    },
  );
  assert.match(payload.sub ?? "", /^req_/);
});

test("PyJWT verifies our signature", { skip: skipsPython }, () => {
  const script = `
import json, sys
import jwt
from jwt.algorithms import OKPAlgorithm
if "Ed25519" not in jwt.algorithms.get_default_algorithms():
    jwt.register_algorithm("Ed25519", OKPAlgorithm())
vectors = json.load(open(sys.argv[1], encoding="utf-8"))
case = vectors["receipts"][0]
key = OKPAlgorithm.from_jwk(vectors["keySets"]["published"]["keys"][0])
checks = {"verify_exp": False, "verify_nbf": False, "verify_iat": False}
claims = jwt.decode(case["receipt"], key, algorithms=["Ed25519"], issuer=case["issuer"], audience=case["audience"], options=checks)
print(claims["sub"])
`;
  const output = execFileSync(python ?? "", ["-c", script, path], { ...running(folder) });
  assert.match(output, /^req_/);
});

/** What the functions on the page can be asked: they take a payload, and know neither passkeys nor embedded texts. */
const asked = vectors.receipts.filter(
  ({ payload, says, credentials, allowRejected, proof }) =>
    typeof payload === "string" &&
    credentials === undefined &&
    proof === undefined &&
    allowRejected === undefined &&
    !says.startsWith("assertion_") &&
    !["malformed", "embedded_differs", "payload_same_value", "proof_invalid"].includes(says) &&
    says !== "key_unknown",
);

test("the cases of the page's functions cover what an executor must refuse", () => {
  const names = new Set(asked.map(({ name }) => name));
  for (const name of ["wrong audience", "expired", "retired key", "revoked key"])
    assert.ok(names.has(name), name);
  for (const name of ["another payload", "…992 for …993", "1 for 1.0", "jti changed", "by changed"])
    assert.ok(names.has(name), name);
});

test("the TypeScript function of the page agrees, and believes no flipped receipt", async () => {
  const { verifyReceipt } = await import(save("verify-receipt.ts"));
  const say = (each: ReceiptCase, receipt: string) => {
    try {
      verifyReceipt(receipt, Buffer.from(each.payload ?? ""), vectors.keySets[each.keySet], each);
      return "operator-signed";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.deepEqual(
    asked.map((each) => `${each.name}: ${say(each, each.receipt)}`),
    asked.map(({ name, says }) => `${name}: ${says}`),
  );
  const { of } = vectors.flips;
  const believed = flips.filter((_, at) => say(of, flipped(of.receipt, at)) === "operator-signed");
  assert.deepEqual(believed, []);
});

test("the Python function of the page agrees, and believes no flipped receipt", {
  skip: skipsPython,
}, () => {
  save("verify_receipt.py");
  const script = `
import json, sys
from cryptography.exceptions import InvalidSignature
from verify_receipt import verify_receipt
def say(case, receipt):
    sets = vectors["keySets"][case["keySet"]]
    try:
        verify_receipt(receipt, case["payload"].encode(), sets, case["issuer"], case["audience"], case["now"])
        return "operator-signed"
    except InvalidSignature:
        return "signature_invalid"
    except Exception as error:
        return str(error)
vectors, asked, flips = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
for case in asked:
    print(f"{case['name']}: {say(case, case['receipt'])}")
for receipt in flips:
    if say(vectors["flips"]["of"], receipt) == "operator-signed":
        print("believed", receipt)
`;
  const output = execFileSync(python ?? "", ["-c", script, path, ...askedFiles()], {
    ...running(folder),
  });
  assert.deepEqual(
    output.trimEnd().split("\n"),
    asked.map(({ name, says }) => `${name}: ${says}`),
  );
});

test("the Go function of the page agrees, and believes no flipped receipt", {
  skip: skipsGo,
}, () => {
  save("receipt.go");
  writeFileSync(join(folder, "go.mod"), "module receipt\n\ngo 1.22\n");
  writeFileSync(join(folder, "receipt_test.go"), goTest);
  const [cases = "", flippedFile = ""] = askedFiles();
  const { status, stdout, stderr } = spawnSync("go", ["test", "./..."], {
    ...running(folder),
    env: { ...process.env, VECTORS: path, ASKED: cases, FLIPS: flippedFile },
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
});

const goTest = `package receipt

import (
	"encoding/json"
	"os"
	"testing"
)

type receiptCase struct {
	Name, Receipt, KeySet, Issuer, Audience, Says, Payload string
	Now                                                    int64
}

type vectors struct {
	KeySets map[string]Jwks
	Flips   struct{ Of receiptCase }
}

func read[T any](t *testing.T, name string) (value T) {
	text, err := os.ReadFile(os.Getenv(name))
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestVectors(t *testing.T) {
	file, asked := read[vectors](t, "VECTORS"), read[[]receiptCase](t, "ASKED")
	say := func(c receiptCase, receipt string) string {
		_, err := Verify(receipt, []byte(c.Payload), file.KeySets[c.KeySet], c.Issuer, c.Audience, c.Now)
		if err == nil {
			return "operator-signed"
		}
		return err.Error()
	}
	if len(asked) < 60 {
		t.Fatal("cases are missing")
	}
	for _, c := range asked {
		if said := say(c, c.Receipt); said != c.Says {
			t.Errorf("%s: %s, not %s", c.Name, said, c.Says)
		}
	}
	for at, receipt := range read[[]string](t, "FLIPS") {
		if say(file.Flips.Of, receipt) == "operator-signed" {
			t.Errorf("flip %d is believed", at)
		}
	}
}
`;

async function sayAll(): Promise<string[]> {
  const said: string[] = [];
  for (const each of vectors.receipts) said.push(`${each.name}: ${await say(each, each.receipt)}`);
  const { of } = vectors.flips;
  for (let at = 0; at < of.receipt.length; at += 1) {
    said.push(`flip ${at}: ${await say(of, flipped(of.receipt, at))}`);
  }
  return said;
}

async function sayOfLog(): Promise<string[]> {
  const said: string[] = [];
  for (const { name, note, vkey } of vectors.notes) {
    const [parsed, key] = [parseNote(note), await parseNoteKey(vkey)];
    const isSigned = parsed !== null && key !== null && (await isSignedNote(parsed, key));
    said.push(`note ${name}: ${isSigned ? "signed" : "refused"}`);
  }
  const bytes = (encoded: string) => fromBase64(encoded) as Uint8Array;
  for (const [at, { leaf, root, proof, ...place }] of vectors.trees.inclusion.entries()) {
    const parts = { leaf: bytes(leaf), root: bytes(root), proof: proof.map(bytes) };
    said.push(`inclusion ${at}: ${await isIncluded({ ...place, ...parts })}`);
  }
  for (const [at, { oldRoot, newRoot, proof, ...sizes }] of vectors.trees.consistency.entries()) {
    const parts = { oldRoot: bytes(oldRoot), newRoot: bytes(newRoot), proof: proof.map(bytes) };
    said.push(`consistency ${at}: ${await isConsistent({ ...sizes, ...parts })}`);
  }
  for (const { name, entry, ...rest } of vectors.entries) {
    const [isRight] = await areSalted([{ entry: readEntry(entry), ...rest }]);
    said.push(`entry ${name}: ${isRight}`);
  }
  return said;
}

async function say({ keySet, ...options }: ReceiptCase, receipt: string): Promise<string> {
  const jwks = vectors.keySets[keySet] as KeySet;
  const said = await receipts.verify(receipt, { ...options, jwks });
  return said.ok ? said.level : said.reason;
}

function reasonsOfPage(): string[] {
  const table = page.slice(page.indexOf("## Reasons"));
  const rows = [...table.matchAll(/^\| (`.*?`(?:, `.*?`)*) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(.*?)`/g)].map(([, name = ""]) => name.replace("…", "assertion_other")),
  );
  assert.ok(rows.length > 20);
  return rows;
}

function askedFiles(): [string, string] {
  const [cases, changed] = [join(folder, "asked.json"), join(folder, "flips.json")];
  const { receipt } = vectors.flips.of;
  writeFileSync(cases, JSON.stringify(asked));
  writeFileSync(changed, JSON.stringify([...receipt].map((_, at) => flipped(receipt, at))));
  return [cases, changed];
}

function save(name: string): string {
  const block = codeBlocksOf("receipts.md", page).find(({ fileName }) => fileName === name);
  assert.ok(block, `receipts.md has no block ${name}`);
  const file = join(folder, name);
  writeFileSync(file, block.text);
  return file;
}

function running(cwd: string) {
  const env = { ...process.env, PYTHONIOENCODING: "utf-8", PYTHONDONTWRITEBYTECODE: "1" };
  return { cwd, encoding: "utf8", env, maxBuffer: 64 * 1024 * 1024 } as const;
}
