import assert from "node:assert/strict";
import { test } from "node:test";
import { delegatesOf } from "./delegates.ts";

const ann = "ann@example.com";
const bob = "bob@example.com";
const cy = "cy@example.com";
const dee = "dee@example.com";
const eve = "eve@example.com";

const nobody = new Set<string>();
const chain = new Map([
  [ann, bob],
  [bob, cy],
  [cy, dee],
  [dee, eve],
]);

/** Who is asked in the end. */
function delegateOf(...asked: Parameters<typeof delegatesOf>): string | null {
  return delegatesOf(...asked).at(-1) ?? null;
}

test("somebody who is there has no delegate", () => {
  assert.equal(delegateOf(ann, new Map([[bob, cy]]), nobody), null);
});

test("a delegate who is away passes it on, three times at most", () => {
  assert.equal(delegateOf(cy, new Map([[cy, dee]]), nobody), dee);
  assert.equal(delegateOf(cy, chain, nobody), eve);
  assert.equal(delegateOf(bob, chain, nobody), eve);
  assert.equal(delegateOf(ann, chain, nobody), dee);
  assert.deepEqual(delegatesOf(ann, chain, nobody), [bob, cy, dee]);
});

test("a circle is cut before it comes back to anybody", () => {
  const circle = new Map([
    [ann, bob],
    [bob, ann],
    [cy, dee],
    [dee, eve],
    [eve, dee],
  ]);
  assert.equal(delegateOf(ann, circle, nobody), bob);
  assert.equal(delegateOf(bob, circle, nobody), ann);
  assert.equal(delegateOf(cy, circle, nobody), eve);
  assert.equal(delegateOf(ann, new Map([[ann, ann]]), nobody), null);
});

test("an excluded person is never a delegate, and passes nothing on", () => {
  assert.equal(delegateOf(ann, chain, new Set([bob])), null);
  assert.equal(delegateOf(ann, chain, new Set([cy])), bob);
  assert.equal(delegateOf(ann, chain, new Set([dee])), cy);
});
