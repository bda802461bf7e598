// What `doctor` has found.

import { accessSync, constants } from "node:fs";

export type Finding = { level: "ok" | "warning" | "problem"; text: string };

export function ok(text: string): Finding {
  return { level: "ok", text };
}

export function warning(text: string): Finding {
  return { level: "warning", text };
}

export function problem(text: string): Finding {
  return { level: "problem", text };
}

export function writableFindings(paths: string[]): Finding[] {
  return paths
    .filter(isWritable)
    .map((path) => warning(`${path} can be written by you, and so by an agent that runs as you.`));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
