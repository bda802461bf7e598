import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextOf, outlineOf, stepsOf } from "../../../server/src/domain/shown/json-outline.ts";
import { chunksFor, chunksOf, entriesIn, entryValue, textOfChunk } from "./chunks.ts";

const json = fc.oneof(
  fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 200 }),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 200 }),
);

test("the chunks of a container hold its entries, each once and in their order", () => {
  fc.assert(
    fc.property(json, fc.nat(250), (value, index) => {
      const outline = outlineOf(JSON.stringify(value));
      const list = chunksOf(outline, 0);
      const entries = list.chunks.flatMap((chunk) => entriesIn(list, chunk));
      assert.deepEqual(
        entries.map((entry) => [entry.step, entry.value]),
        [...stepsOf(outline, 0)],
      );
      assert.equal(list.count, entries.length);
      const entry = entries[index];
      if (entry !== undefined) assert.equal(entryValue(list, index), entry.value);
      const shown = list.chunks.slice(0, chunksFor(list, index));
      const count = shown.reduce((sum, chunk) => sum + chunk.count, 0);
      assert.ok(count >= Math.min(index, list.count), "as many chunks as the entries need");
      for (const chunk of list.chunks) assert.ok(textOfChunk(list, chunk).length > 0);
    }),
  );
});

test("a chunk takes a moment to draw, or is one entry that grows by itself", () => {
  const rows = Array.from({ length: 500 }, (_, id) => ({
    id,
    note: "x".repeat((id * 37) % 3_000),
  }));
  const outline = outlineOf(JSON.stringify([...rows, Array.from({ length: 200 }, () => 1), 2]));
  const { chunks } = chunksOf(outline, 0);
  for (const { value, size, count, isHeavy } of chunks) {
    if (isHeavy) assert.equal(count, 1);
    else assert.ok(size <= 40 || count === 1);
    assert.equal(size >= nextOf(outline, value) - value, true);
  }
  assert.equal(chunks.filter(({ size }) => size > 128).length, 1);
});
