import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, nameProgram, programFields } from "./page-program.ts";

test("a program is known by the hash in its name, whatever the hash holds", () => {
  assert.equal(hashOf("https://acme.example/sub/assets/review-DTuMUIUA.js"), "DTuMUIUA");
  assert.equal(hashOf("https://acme.example/assets/boot-Bv55mHW-.js"), "Bv55mHW-");
  assert.equal(hashOf("https://acme.example/assets/copy-box-_vh_9wLg.js"), "_vh_9wLg");
});

test("a page whose program has no hash says nothing", () => {
  assert.equal(hashOf("http://localhost:5173/src/review/main.tsx"), null);
  nameProgram("http://localhost:5173/src/review/main.tsx");
  assert.deepEqual(programFields(), {});
  nameProgram("https://acme.example/assets/inbox-FRRkl0RL.js");
  assert.deepEqual(programFields(), { page: "FRRkl0RL" });
});
