// A process with workerd in it, as `wrangler dev` has it: Miniflare with the Worker, and its workflows on disk. The test
// tells it on standard input what to begin and to look up, and kills it.

import { join } from "node:path";
import { createInterface } from "node:readline";
import { Miniflare } from "miniflare";
import { rolldown } from "rolldown";

const [folder = ""] = process.argv.slice(2);
const built = await rolldown({
  input: join(import.meta.dirname, "worker.ts"),
  external: ["cloudflare:workers"],
  resolve: { conditionNames: ["countersign:source", "import"] },
});
const { output } = await built.generate({ format: "esm" });
await built.close();
const miniflare = new Miniflare({
  modules: true,
  script: output[0].code,
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["nodejs_compat"],
  bindings: JSON.parse(process.env.BINDINGS ?? "{}"),
  workflows: { REFUNDS: { name: "refunds", className: "Refunds" } },
  workflowsPersist: folder,
});
const url = await miniflare.ready;
const { REFUNDS } = await miniflare.getBindings<{ REFUNDS: Workflow<unknown> }>();
say({ url: url.href });

for await (const line of createInterface({ input: process.stdin })) {
  const { begin, params, revive, look } = JSON.parse(line);
  if (begin !== undefined) await REFUNDS.create({ id: begin, params });
  const instance = await REFUNDS.get(begin ?? revive ?? look);
  // Cloudflare goes on with what was running when a machine died. Miniflare does at the next event, of any type.
  if (revive !== undefined) await instance.sendEvent({ type: "revive", payload: null });
  say(await instance.status());
}
// The test has ended.
await miniflare.dispose();

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
