// The ceiling of sending webhooks: undici POSTs the same bodies to the same receiver, with nothing to record.

import { Pool } from "undici";
import type { NoteCall, PostLoad } from "./load-process.ts";

export async function loopPosts(load: PostLoad, record: NoteCall): Promise<void> {
  const { urls, clients, headers, body } = load;
  const pools = new Map<string, Pool>();
  for (const url of urls) {
    const { origin } = new URL(url);
    if (!pools.has(origin))
      pools.set(origin, new Pool(origin, { connections: clients, pipelining: 1 }));
  }
  async function loop(client: number): Promise<void> {
    for (let turn = client; ; turn += 1) {
      const url = new URL(urls[turn % urls.length] ?? "");
      const sentAt = performance.now();
      const path = url.pathname;
      const answer = await pools.get(url.origin)?.request({ path, method: "POST", headers, body });
      await answer?.body.dump();
      if (!record(sentAt)) return;
    }
  }
  try {
    await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  } finally {
    for (const pool of pools.values()) await pool.destroy();
  }
}
