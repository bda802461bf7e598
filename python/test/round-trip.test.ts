// 100,000 random JSON documents through both SDKs, the service and its database, a thousand to a request: each comes
// back character for character.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { serve } from "../../sdk/test/served.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { findPython, pythonRoot, skipsPython } from "./python.ts";

const count = 100_000;
const batchSize = 1_000;
const seed = Number(process.env.ROUND_TRIP_SEED ?? Date.now() % 2 ** 31);

const asked = { summary: "Round trip", notify: "ann@example.com" };

const served = await serve();
const folder = await mkdtemp(join(tmpdir(), "countersign-round-trip-"));
after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

const random = randomOf(seed);
const documents = Array.from({ length: count }, () => valueText(0));

const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

/** As our README tells users to: a number keeps its source text. */
const exact = {
  parse: (text: string): unknown =>
    JSON.parse(text, ((_: string, value: unknown, { source }: { source: string }) =>
      typeof value === "number" ? rawJson(source) : value) as never),
};

test(`${count} documents round-trip through the TypeScript SDK (ROUND_TRIP_SEED=${seed})`, async () => {
  const client = await served.client(exact);
  for (let start = 0; start < count; start += batchSize) {
    const batch = documents.slice(start, start + batchSize);
    const payload = batch.map(exact.parse);
    const { id, ...created } = await client.requests.create({ ...asked, payload });
    assert.equal(typeof id, "string");
    // Comparing one text is much quicker than comparing a thousand.
    const texts = created.payload as unknown[];
    if (JSON.stringify(texts) === `[${batch.join(",")}]`) continue;
    texts.forEach((value, at) => {
      assert.equal(JSON.stringify(value), batch[at]);
    });
    assert.fail(`documents from ${start} on`);
  }
});

test(
  `${count} documents round-trip through the Python SDK (ROUND_TRIP_SEED=${seed})`,
  skipsPython,
  async () => {
    const file = join(folder, "documents.txt");
    await writeFile(file, documents.join("\n"));
    const { key } = await makeWorkspace(served.service.db);
    const { stdout } = await promisify(execFile)(
      findPython() ?? "",
      ["-m", "tests.round_trip", file],
      {
        cwd: pythonRoot,
        env: {
          PATH: process.env.PATH,
          PYTHONPATH: join(pythonRoot, "src"),
          PYTHONDONTWRITEBYTECODE: "1",
          COUNTERSIGN_API_KEY: key,
          COUNTERSIGN_BASE_URL: served.url,
        },
      },
    );
    assert.equal(stdout.trim(), String(count));
  },
);

function valueText(depth: number): string {
  const kind = random(depth > 6 ? 5 : 8);
  if (kind === 0) return pick(["null", "true", "false"]);
  if (kind < 3) return numberText();
  if (kind < 5) return stringText();
  const length = random(depth === 0 ? 6 : 3);
  if (kind === 5) return `[${Array.from({ length }, () => valueText(depth + 1)).join(",")}]`;
  // Names are texts with a letter: JavaScript would move "7" before all others.
  const names = new Set(Array.from({ length }, () => `${JSON.parse(stringText())}k${random(9)}`));
  if (random(50) === 0) names.add("__proto__");
  const members = [...names].map((name) => `${JSON.stringify(name)}:${valueText(depth + 1)}`);
  return `{${members.join(",")}}`;
}

function numberText(): string {
  const sign = pick(["", "", "-"]);
  const whole = pick(["0", digits(1), digits(3), digits(16), digits(17 + random(30))]);
  const fraction = pick(["", "", ".0", `.${anyDigits(2)}`, `.${anyDigits(1 + random(25))}`]);
  const exponent = pick(["", "", "", `e${random(30)}`, `E+${random(500)}`, `E-0${random(500)}`]);
  if (random(5_000) === 0) return `${sign}${digits(5_000)}`;
  if (random(500) === 0) return `${sign}${whole}e${digits(20)}`;
  return `${sign}${whole}${fraction}${exponent}`;
}

function digits(length: number): string {
  return `${1 + random(9)}${anyDigits(length - 1)}`;
}

function anyDigits(length: number): string {
  return Array.from({ length }, () => random(10)).join("");
}

function stringText(): string {
  const characters = Array.from({ length: random(7) }, () =>
    pick([
      () => String.fromCharCode(97 + random(26)),
      () => String.fromCharCode(random(0x20)),
      () => pick(['"', "\\", "/", "\u007f", "\u2028", "\ufeff", "é", "\u0301"]),
      () => String.fromCodePoint(0x1f300 + random(500)),
      // Half a character.
      () => String.fromCharCode(0xdc00 + random(0x400)),
    ])(),
  );
  return JSON.stringify(characters.join(""));
}

function pick<Value>(values: readonly Value[]): Value {
  return values[random(values.length)] as Value;
}

/** The same numbers for the same seed, each below a limit. */
function randomOf(start: number): (limit: number) => number {
  let state = start;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
