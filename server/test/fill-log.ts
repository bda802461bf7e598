// Fills a workspace's log with very many entries, fast, for tests and measurements: by the very operations of the
// sequencer, without its rests. Run as a program it prints how fast that was and what it took:
// node scripts/test.ts server/test/fill-log.ts

import type { Database } from "../src/database/database.ts";
import { logBatch } from "../src/domain/proof/log-limits.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { signLogs } from "../src/operations/proof/sign-log.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { installation } from "../src/storage/proof/log-pending.ts";
import { makeWorkspace, startService, testKeyring, testPublicUrl } from "./test-service.ts";

/** One checkpoint for each batch, and all of them in the installation's log. */
export async function fillLog(
  db: Database,
  { workspaceId, count }: { workspaceId: string; count: number },
  { keyring = testKeyring, publicUrl = testPublicUrl } = {},
): Promise<void> {
  const parts = { db, keyring, origin: { publicUrl } };
  const signer = await currentSigner(db, keyring);
  const sequence = async (owner: string) => {
    const sequenced = await sequenceLog(parts, owner, logBatch);
    if (sequenced !== null && signer !== null) await signLogs(parts, signer, [sequenced.treeId]);
    return sequenced;
  };
  for (let done = 0; done < count; done += logBatch) {
    await db.query(
      `insert into log_pending (workspace_id, source, subject, detail)
       select $1, 'd', 'fact_' || n, jsonb_build_object('kind', 'test.fact', 'n', n)
       from generate_series($2::int, $3::int) as n`,
      [workspaceId, done + 1, Math.min(done + logBatch, count)],
    );
    await sequence(workspaceId);
  }
  while ((await sequence(workspaceId)) !== null);
  while ((await sequence(installation)) !== null);
}

if (import.meta.main) {
  const count = Number(process.env.LOG_ENTRIES ?? 1_000_000);
  const service = await startService();
  const { id: workspaceId } = await makeWorkspace(service.db);
  const began = performance.now();
  let bytesMax = 0;
  const timer = setInterval(() => {
    bytesMax = Math.max(bytesMax, process.memoryUsage().rss);
  }, 200);
  await fillLog(service.db, { workspaceId, count });
  clearInterval(timer);
  const seconds = (performance.now() - began) / 1_000;
  const speed = `${Math.round(count / seconds)} entries/s`;
  const memory = `${Math.round(bytesMax / 2 ** 20)} MiB at most`;
  process.stdout.write(`${count} entries in ${seconds.toFixed(1)} s: ${speed}, ${memory}\n`);
  await service.stop();
}
