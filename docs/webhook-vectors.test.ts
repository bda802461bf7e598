// The published test vectors of webhooks, through the SDK and through each function that the page tells people to copy.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { constructEvent, WebhookVerificationError } from "../sdk/src/index.ts";
import { codeBlocksOf } from "./test/code-block.ts";

type Vector = {
  name: string;
  secret: string;
  body: string;
  headers: Record<string, string>;
  now: number;
  isSigned: boolean;
  flaw: string | null;
};

const vectorsPath = join(import.meta.dirname, "webhook-vectors.json");
const { vectors } = JSON.parse(readFileSync(vectorsPath, "utf8")) as { vectors: Vector[] };
const page = readFileSync(join(import.meta.dirname, "webhooks.md"), "utf8");
const blocks = codeBlocksOf("webhooks.md", page);
const folder = mkdtempSync(join(tmpdir(), "countersign-vectors-"));
const expected = vectors.map(({ name, isSigned }) => `${name}: ${isSigned}`);

after(() => rmSync(folder, { recursive: true, force: true }));

test("there are vectors that must be believed, and vectors for every flaw that a call can have", () => {
  assert.ok(vectors.some(({ flaw }) => flaw === null));
  const flaws = new Set(vectors.map(({ flaw }) => flaw));
  for (const flaw of [
    "signature_missing",
    "signature_malformed",
    "timestamp_too_old",
    "timestamp_in_future",
    "signature_mismatch",
    "body_malformed",
    "event_mismatch",
    "secret_missing",
  ]) {
    assert.ok(flaws.has(flaw), flaw);
  }
});

test("the SDK says of each vector what is wrong with it, given text or bytes, a record or Headers", async () => {
  for (const { name, secret, body, headers, now, flaw } of vectors) {
    const isLatin = Object.values(headers).every((value) => /^[\0-\xff]*$/.test(value));
    for (const rawBody of [body, Buffer.from(body)]) {
      for (const given of isLatin ? [headers, new Headers(headers)] : [headers]) {
        const verdict = await constructEvent(rawBody, given, secret, { now }).then(
          () => null,
          (error) => (error instanceof WebhookVerificationError ? error.code : error),
        );
        assert.equal(verdict, flaw, name);
      }
    }
  }
});

test("the TypeScript function of the page agrees", async () => {
  const { isFromCountersign } = await import(save("verify.ts"));
  const said = vectors.map(({ name, secret, body, headers, now }) => {
    const header = headers["X-Service-Signature"] ?? "";
    return `${name}: ${isFromCountersign(secret, header, Buffer.from(body), now)}`;
  });
  assert.deepEqual(said, expected);
});

test("the Python function of the page agrees", { skip: skipWithout("python3") }, () => {
  save("verify.py");
  const script = `
import json, sys
from verify import is_from_countersign
for vector in json.load(open(sys.argv[1], encoding="utf-8"))["vectors"]:
    header = vector["headers"].get("X-Service-Signature", "")
    said = is_from_countersign(vector["secret"], header, vector["body"].encode(), vector["now"])
    print(f"{vector['name']}: {str(said).lower()}")
`;
  const output = execFileSync("python3", ["-c", script, vectorsPath], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, PYTHONIOENCODING: "utf-8", PYTHONDONTWRITEBYTECODE: "1" },
  });
  assert.deepEqual(output.trimEnd().split("\n"), expected);
});

test("the Go function of the page agrees", { skip: skipWithout("go") }, () => {
  save("main.go");
  writeFileSync(join(folder, "go.mod"), "module example\n\ngo 1.19\n");
  writeFileSync(
    join(folder, "vectors_test.go"),
    `package main

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

func TestVectors(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("VECTORS"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name, Secret, Body string
			Headers            map[string]string
			Now                int64
			IsSigned           bool
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) != ${vectors.length} {
		t.Fatal("vectors are missing")
	}
	for _, v := range file.Vectors {
		header := v.Headers["X-Service-Signature"]
		if isFromCountersign(v.Secret, header, []byte(v.Body), time.Unix(v.Now, 0)) != v.IsSigned {
			t.Error(v.Name)
		}
	}
}
`,
  );
  const { status, stdout, stderr } = spawnSync("go", ["test", "./..."], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, VECTORS: vectorsPath },
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
});

function save(name: string): string {
  const block = blocks.find(({ fileName }) => fileName === name);
  assert.ok(block, `webhooks.md has no block ${name}`);
  const path = join(folder, name);
  writeFileSync(path, block.text);
  return path;
}

function skipWithout(command: string): string | false {
  const { status } = spawnSync("sh", ["-c", 'command -v "$0"', command]);
  return status === 0 ? false : `${command} is not installed here`;
}
