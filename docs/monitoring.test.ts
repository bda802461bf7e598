// Holds the alerts, the dashboard of Grafana and the operator's table to the figures that the service really tells.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "../server/src/metrics/prometheus.ts";
import { hasPromtool, promtool, promtoolMissing } from "../server/test/metrics-text.ts";

const docs = import.meta.dirname;
const textOf = (name: string) => readFileSync(join(docs, name), "utf8");
const alerts = textOf("operating/alerts.yml");
const dashboard = JSON.parse(textOf("operating/grafana-dashboard.json")) as Dashboard;

type Target = { expr: string };
type Dashboard = {
  panels: { type: string; title: string; targets?: Target[] }[];
  templating: { list: { type: string; definition?: string }[] };
};

const types = await typesTold();
const told = new Set(
  [...types].flatMap(([name, type]) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name],
  ),
);

test("every query of the dashboard and of the alerts names figures that exist", () => {
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  assert.ok(panels.length >= 20);
  for (const { title, targets = [] } of panels) {
    assert.ok(targets.length > 0, `${title} asks nothing`);
    for (const { expr } of targets) assertExists(expr);
  }
  for (const { definition } of dashboard.templating.list) {
    if (definition !== undefined) assertExists(definition);
  }
  const rules = [...alerts.matchAll(/^ +expr: (.+)$/gm)].map(([, expr = ""]) => expr);
  assert.ok(rules.length >= 10);
  for (const expr of rules.filter((each) => !/^up\b/.test(each))) assertExists(expr);
});

test("every figure of ours stands in the operator's table, and no other", () => {
  const page = textOf("operating.md");
  const [table = ""] = /^\| figure [\s\S]*?\n\n/m.exec(page) ?? [];
  const named = [...table.matchAll(/^\| `(countersign_\w+)/gm)].map(([, name]) => name);
  const ours = [...types.keys()].filter((name) => name.startsWith("countersign_"));
  assert.deepEqual(named.toSorted(), ours.toSorted());
});

test("promtool takes the alerts, and they fire when they should", (t) => {
  if (!hasPromtool) return t.skip(promtoolMissing);
  assert.match(promtool(["check", "rules", join(docs, "operating/alerts.yml")]), /SUCCESS/);
  assert.match(promtool(["test", "rules", join(docs, "test/alerts-fire.yml")]), /SUCCESS/);
});

function assertExists(query: string): void {
  const names = query.match(/\b(?:countersign|nodejs|process)_\w+/g) ?? [];
  assert.ok(names.length > 0, `${query} names no figure`);
  for (const name of names) assert.ok(told.has(name), `${name} doesn't exist, in: ${query}`);
}

/** The type of each figure of a process that does everything. */
async function typesTold(): Promise<Map<string, string>> {
  const metrics = new Metrics();
  const none = { total: 0, idle: 0, waiting: 0, max: 0 };
  metrics.watch({
    readBacklog: () => Promise.reject(new Error("nobody asks")),
    pools: { calls: () => none },
    isListening: () => true,
    waitingCallers: () => 0,
  });
  const lines = (await metrics.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm);
  return new Map([...lines].map(([, name = "", type = ""]) => [name, type]));
}
