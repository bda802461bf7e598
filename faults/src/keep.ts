// Writes all evidence and all output of the processes into a folder, for the search after a flaw.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Evidence } from "./evidence.ts";

export function keep(folder: string, evidence: Evidence): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "evidence.json"), JSON.stringify(evidence));
  for (const { process: name, text } of evidence.outputs) {
    writeFileSync(join(folder, `${name}.log`), text);
  }
}
