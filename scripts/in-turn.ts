// Test files that share a process. Each is a test with its own tests inside, so that it ends what it started before the
// next one is loaded.

import { relative } from "node:path";
import { test } from "node:test";

const root = `${import.meta.dirname}/..`;

export function runInTurn(path: string): void {
  test(relative(root, path), async () => {
    await import(path);
  });
}
