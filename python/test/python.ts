// The machine's Python, if it is new enough for the SDK.

import { spawnSync } from "node:child_process";
import { join } from "node:path";

export const pythonRoot = join(import.meta.dirname, "..");

const isNewEnough = "import sys; sys.exit(sys.version_info < (3, 11))";

export function findPython(): string | null {
  return (
    ["python3", "python"].find((program) => spawnSync(program, ["-c", isNewEnough]).status === 0) ??
    null
  );
}

export const skipsPython =
  findPython() === null ? { skip: "Python 3.11 or newer is not installed here" } : {};
