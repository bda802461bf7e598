// Which version of a package stands in the node_modules of this folder.

import { readFileSync } from "node:fs";

export function versionOf(packageName: string): string {
  const path = new URL(`../node_modules/${packageName}/package.json`, import.meta.url);
  const { version }: { version: string } = JSON.parse(readFileSync(path, "utf8"));
  return version;
}
