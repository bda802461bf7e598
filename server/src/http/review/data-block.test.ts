import assert from "node:assert/strict";
import { test } from "node:test";
import { dataBlock } from "./data-block.ts";

/** The expected result, written to be read. */
function plainly(data: unknown): string {
  return JSON.stringify(data).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

test("nothing in a data block can end its element or its line, and everything else stays", async () => {
  const texts = [
    "",
    "plain",
    "</script><script>alert(1)</script><!-- & -->",
    "\u2028\u2029\u2027\u202a\u2128",
    "é漢🙂<\ud800>\u0000",
    "<".repeat(1_000),
  ];
  for (const text of texts) {
    const block = String(await dataBlock({ text, [text]: [text, null, 1.5] }));
    assert.equal(block, plainly({ text, [text]: [text, null, 1.5] }));
    assert.doesNotMatch(block, /[<>&\u2028\u2029]/);
  }
});

test("large texts are escaped alike wherever their slices end", async () => {
  for (const unit of ["<", "é<", "漢\u2028", "🙂&", "\u2029", "abc>"]) {
    for (let shift = 0; shift < 4; shift += 1) {
      const data = "x".repeat(shift) + unit.repeat(100_000);
      assert.equal(String(await dataBlock(data)), plainly(data), `${unit} ${shift}`);
    }
  }
});

test("other work gets its turn while a large text is escaped", async () => {
  let turns = 0;
  const timer = setInterval(() => {}, 1);
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  await dataBlock("<".repeat(4 * 1024 * 1024));
  clearImmediate(immediate);
  clearInterval(timer);
  assert.ok(turns > 20, `${turns} turns`);
});

test("escaped text costs no more than a few times as much as plain text", async () => {
  const costOf = async (data: string) => {
    const costs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const { user, system } = process.cpuUsage();
      await dataBlock(data);
      const used = process.cpuUsage({ user, system });
      costs.push(used.user + used.system);
    }
    return Math.min(...costs);
  };
  const plain = await costOf("é".repeat(2 * 1024 * 1024));
  const special = await costOf("<".repeat(4 * 1024 * 1024));
  assert.ok(special < 40 * plain, `${special} µs, ${plain} µs without`);
});
