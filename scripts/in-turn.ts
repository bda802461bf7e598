// Test files that share a process. Each is a suite, so that it ends what it started before the next one begins.

import { relative } from "node:path";
import { describe } from "node:test";

const root = `${import.meta.dirname}/..`;

export function runInTurn(path: string): void {
  describe(relative(root, path), async () => {
    await import(path);
  });
}
