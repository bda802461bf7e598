// Whether a shell prints text of its own before a command, from a profile of its user. Harnesses run the hook in a shell,
// and can't read an answer that stands behind such text: they would run the input that the approver has changed.

import { spawnSync } from "node:child_process";

const startMs = 5_000;

/** The first shell that does; null if none does. `shell` is `$SHELL`. */
export function noisyShell(shell: string | null): string | null {
  const shells: [string, string][] = [["/bin/sh", "-c"]];
  if (shell !== null) shells.push([shell, "-c"], [shell, "-lc"]);
  for (const [command, flag] of shells) {
    const { stdout } = spawnSync(command, [flag, ":"], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: startMs,
    });
    // A shell that isn't there says nothing.
    if ((stdout ?? "").toString().trim() !== "") return `${command} ${flag}`;
  }
  return null;
}
