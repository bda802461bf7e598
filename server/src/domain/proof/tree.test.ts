import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  append,
  consistencyRanges,
  emptyFrontier,
  emptyRoot,
  frontierNodes,
  inclusionRanges,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
  nodesOf,
  proofOf,
  rootOf,
  rootOver,
  type TreeNode,
  tileRangeOf,
} from "./tree.ts";

/** The SDK's verifier is held to the same public vectors. The file says where they come from. */
const vectors = JSON.parse(
  readFileSync(new URL("../../../../sdk/test/public-vectors/merkle.json", import.meta.url), "utf8"),
) as { inclusion: InclusionVector[]; consistency: ConsistencyVector[] };

type Vector = { desc: string; proof: string[] | null; wantErr: boolean };
type InclusionVector = Vector & {
  leafIdx: number;
  treeSize: number;
  root: string | null;
  leafHash: string | null;
};
type ConsistencyVector = Vector & {
  size1: number;
  size2: number;
  root1: string | null;
  root2: string | null;
};

const bytes = (text: string | null) => Buffer.from(text ?? "", "base64");

test("inclusion is accepted and refused as transparency-dev/merkle's vectors say", () => {
  const cases = vectors.inclusion;
  assert.ok(cases.length > 90);
  for (const each of cases) {
    const isAccepted = isIncluded({
      index: each.leafIdx,
      size: each.treeSize,
      leaf: bytes(each.leafHash),
      proof: (each.proof ?? []).map(bytes),
      root: bytes(each.root),
    });
    assert.equal(isAccepted, !each.wantErr, each.desc);
  }
});

test("consistency is accepted and refused as transparency-dev/merkle's vectors say", () => {
  const cases = vectors.consistency;
  assert.ok(cases.length > 90);
  for (const each of cases) {
    const isAccepted = isConsistent({
      first: { size: each.size1, root: bytes(each.root1) },
      second: { size: each.size2, root: bytes(each.root2) },
      proof: (each.proof ?? []).map(bytes),
    });
    assert.equal(isAccepted, !each.wantErr, each.desc);
  }
});

/** RFC 6962, section 2.1, word by word. */
function treeHash(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return emptyRoot;
  if (leaves.length === 1) return only;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return nodeHash(treeHash(leaves.slice(0, half)), treeHash(leaves.slice(half)));
}

const leaves = Array.from({ length: 700 }, (_, at) => leafHash(Buffer.from(`entry ${at}`)));

const hashOf = ({ height, index }: TreeNode): Buffer =>
  treeHash(leaves.slice(index * 2 ** height, (index + 1) * 2 ** height));

test("a tree grown in any steps has the root of RFC 6962", () => {
  let frontier = emptyFrontier;
  assert.deepEqual(rootOf(frontier), emptyRoot);
  while (frontier.size < leaves.length) {
    const step = 1 + ((frontier.size * 7) % 90);
    frontier = append(frontier, leaves.slice(frontier.size, frontier.size + step)).frontier;
    assert.deepEqual(rootOf(frontier), treeHash(leaves.slice(0, frontier.size)));
    assert.deepEqual(frontier.hashes, frontierNodes(frontier.size).map(hashOf));
  }
});

test("appending tells each tile that became full, once", () => {
  const many = Array.from({ length: 256 * 256 + 300 }, (_, at) => leafHash(Buffer.from([at % 7])));
  const { full } = append(emptyFrontier, many);
  const first = full.filter(({ level }) => level === 1);
  assert.deepEqual(
    first.map(({ index }) => index),
    Array.from({ length: 257 }, (_, at) => at),
  );
  assert.deepEqual(first[3]?.hash, treeHash(many.slice(3 * 256, 4 * 256)));
  const second = full.filter(({ level }) => level === 2);
  assert.deepEqual(
    second.map(({ index, hash }) => [index, hash]),
    [[0, rootOver(first.slice(0, 256).map(({ hash }) => hash))]],
  );
  assert.equal(full.length, 258);
});

test("every entry of every small tree is proved, and by no other place, size or root", () => {
  for (let size = 1; size <= 40; size += 1) {
    const root = treeHash(leaves.slice(0, size));
    for (let index = 0; index < size; index += 1) {
      const proof = proofOf(inclusionRanges(index, size), hashOf);
      const leaf = leaves[index] as Buffer;
      assert.ok(isIncluded({ index, size, leaf, proof, root }));
      assert.ok(!isIncluded({ index: index + 1, size, leaf, proof, root }));
      assert.ok(!isIncluded({ index, size, leaf, proof, root: randomBytes(32) }));
      assert.ok(!isIncluded({ index, size, leaf, proof: [...proof, root], root }));
    }
  }
});

test("every small tree is proved to be the beginning of every larger one, and a changed one isn't", () => {
  for (let second = 1; second <= 40; second += 1) {
    for (let first = 1; first <= second; first += 1) {
      const proof = proofOf(consistencyRanges(first, second), hashOf);
      const sized = (size: number) => ({ size, root: treeHash(leaves.slice(0, size)) });
      assert.ok(isConsistent({ first: sized(first), second: sized(second), proof }));
      const changed = { size: first, root: randomBytes(32) };
      assert.ok(!isConsistent({ first: changed, second: sized(second), proof }));
      assert.ok(
        !isConsistent({ first: sized(first), second: { ...changed, size: second }, proof }),
      );
    }
  }
});

test("a node is the root over the hashes of one tile", () => {
  const ranges = [...inclusionRanges(13, 700), ...consistencyRanges(511, 700)];
  for (const node of nodesOf(ranges)) {
    const { level, from, to } = tileRangeOf(node);
    assert.equal(Math.floor(from / 256), Math.floor((to - 1) / 256));
    const hashes = Array.from({ length: to - from }, (_, at) =>
      hashOf({ height: level * 8, index: from + at }),
    );
    assert.deepEqual(rootOver(hashes), hashOf(node));
  }
});

test("proofs of trees beyond 2^32 entries are short and exact", () => {
  const size = 2 ** 40 + 3;
  assert.deepEqual(frontierNodes(size), [
    { height: 40, index: 0 },
    { height: 1, index: 2 ** 39 },
    { height: 0, index: 2 ** 40 + 2 },
  ]);
  const ranges = inclusionRanges(2 ** 40 + 1, size);
  assert.deepEqual(ranges, [
    { from: 2 ** 40, to: 2 ** 40 + 1 },
    { from: 2 ** 40 + 2, to: size },
    { from: 0, to: 2 ** 40 },
  ]);
});
