// The text format of Prometheus, read strictly, and its own checker where it is installed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

export type Sample = { name: string; labels: Record<string, string>; value: number };

const namePattern = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** Every line is a comment of a known kind or a sample of a metric whose type was told before. */
export function samplesOf(text: string): Sample[] {
  assert.ok(text.endsWith("\n"), "the last line ends");
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [, kind, about = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "TYPE") {
      assert.ok(!types.has(about), `${about} is told twice`);
      assert.match(rest, /^(counter|gauge|histogram|summary|untyped)$/);
      types.set(about, rest);
    }
    if (kind !== undefined) continue;
    const [, name = "", , labelText = "", valueText = ""] =
      /^([^{\s]+)(\{(.*)\})? (\S+)$/.exec(line) ?? [];
    assert.match(name, namePattern, line);
    const base = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    assert.ok(types.has(base), `no type is told of ${name}`);
    const labels = [...labelText.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(,|$)/g)];
    assert.equal(labels.map(([all]) => all).join(""), labelText, line);
    const value = /^[+-]?inf$/i.test(valueText) ? Number.POSITIVE_INFINITY : Number(valueText);
    assert.ok(!Number.isNaN(value) || /^nan$/i.test(valueText), line);
    const entries = labels.map(([, label = "", is = ""]) => [label, is] as const);
    samples.push({ name, labels: Object.fromEntries(entries), value });
  }
  return samples;
}

/** The sum over all samples of that name with at least these labels; null when there is none. */
export function figureOf(
  samples: Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | null {
  const found = samples.filter(
    (each) =>
      each.name === name &&
      Object.entries(labels).every(([label, value]) => each.labels[label] === value),
  );
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}

export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
export const promtoolMissing = "promtool is not installed here (Debian: prometheus)";

/** What promtool says, after it has ended well. */
export function promtool(words: string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync("promtool", words, { input, encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}
