import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseTests, sourcesOf } from "./changed-tests.ts";

const readers = ["architecture", "effects", "packages"].map(
  (name) => `server/test/${name}.test.ts`,
);
const files = Object.entries({
  "server/src/domain/a.ts": "",
  "server/src/domain/a.test.ts": `import { a } from "./a.ts";`,
  "server/src/domain/b.ts": `import { a } from "./a.ts";`,
  "server/src/domain/b.test.ts": `import { b } from "./b.ts";`,
  "server/src/domain/c.test.ts": `import type { A } from "./a.ts";`,
  "server/src/service.ts": `import { b } from "./domain/b.ts";`,
  "server/test/test-service.ts": `import { serve } from "../src/service.ts";\nimport { a } from "../src/domain/a.ts";`,
  "server/test/creating.test.ts": `import { start } from "./test-service.ts";`,
  "server/test/reading.test.ts": `import { start } from "./test-service.ts";\nimport { b } from "../src/domain/b.ts";`,
  "server/test/migrating.test.ts": "",
  "docs/links.test.ts": "",
  "docs/code-blocks.test.ts": "",
  "web/src/page.tsx": "",
  "e2e/site.ts": `import { start } from "../server/test/test-service.ts";`,
  "e2e/journey.ts": `import { site } from "./site.ts";`,
  "e2e/deciding.test.ts": `import { journeys } from "./journey.ts";`,
  ...Object.fromEntries(readers.map((path) => [path, ""])),
}).map(([path, text]) => ({ path, text }));

function chosen(...changed: string[]): string[] {
  return chooseTests(files, changed)
    .chosen.filter((path) => !readers.includes(path))
    .sort();
}

test("a change runs the tests that import it, over other files as well, but not for its types alone", () => {
  assert.deepEqual(chosen("server/src/domain/a.ts"), [
    "server/src/domain/a.test.ts",
    "server/src/domain/b.test.ts",
    "server/test/reading.test.ts",
  ]);
  assert.deepEqual(chosen("server/src/domain/b.test.ts"), ["server/src/domain/b.test.ts"]);
});

test("a test that meets a change only in the running service is left out, and counted", () => {
  const { leftOut } = chooseTests(files, ["server/src/domain/a.ts"]);
  assert.deepEqual(leftOut.sort(), ["e2e/deciding.test.ts", "server/test/creating.test.ts"]);
});

test("a change of what starts the service, or of a file that helps tests, runs all tests that use it", () => {
  const all = ["creating", "reading"].map((name) => `server/test/${name}.test.ts`);
  assert.deepEqual(chosen("server/src/service.ts"), ["e2e/deciding.test.ts", ...all]);
  assert.deepEqual(chosen("server/test/test-service.ts"), ["e2e/deciding.test.ts", ...all]);
  assert.deepEqual(chosen("e2e/site.ts"), ["e2e/deciding.test.ts"]);
});

test("a change of a page leaves out the journeys, which import no page, and is named as met by no test", () => {
  const { leftOut, unmet } = chooseTests(files, ["web/src/page.tsx"]);
  assert.deepEqual(leftOut, ["e2e/deciding.test.ts"]);
  assert.deepEqual(unmet, ["web/src/page.tsx"]);
});

test("the tests that read all sources run with every change of one", () => {
  assert.deepEqual(
    readers.filter((path) => chooseTests(files, ["web/src/page.tsx"]).chosen.includes(path)),
    readers,
  );
});

test("a page of the documentation runs the tests that read pages, and counts those that run its code", () => {
  assert.deepEqual(chooseTests(files, ["docs/api.md"]), {
    chosen: ["docs/links.test.ts"],
    leftOut: ["docs/code-blocks.test.ts"],
    unmet: [],
  });
});

test("a migration runs the test of its checksum, and whatever no test imports or reads is named", () => {
  const { chosen, unmet } = chooseTests(files, ["package.json", "server/migrations/0001_a.sql"]);
  assert.ok(chosen.includes("server/test/migrating.test.ts"));
  assert.deepEqual(unmet, ["package.json", "server/migrations/0001_a.sql"]);
});

test("a change is followed through imports by the name of a package", () => {
  const exports = {
    ".": { "countersign:source": "./src/index.ts", default: "./dist/index.js" },
    "./testing": { "countersign:source": "./src/fake.ts" },
    "./package.json": "./package.json",
  };
  const packages = new Map(sourcesOf("sdk", JSON.stringify({ name: "@our/sdk", exports })));
  const importing = [
    { path: "sdk/src/index.ts", text: `export { a } from "./a.ts";` },
    { path: "sdk/src/a.ts", text: "" },
    { path: "sdk/src/fake.ts", text: "" },
    { path: "adapters/test/one.test.ts", text: `import { a } from "@our/sdk";` },
    { path: "adapters/test/two.test.ts", text: `import { fake } from "@our/sdk/testing";` },
  ];
  const chosenFor = (path: string) => chooseTests(importing, [path], packages).chosen;
  assert.deepEqual(chosenFor("sdk/src/a.ts"), ["adapters/test/one.test.ts"]);
  assert.deepEqual(chosenFor("sdk/src/fake.ts"), ["adapters/test/two.test.ts"]);
});
