// Other ways to wait for a person, beside ours: see bench/peers.

import type { Bench } from "../bench.ts";
import type { Figure } from "../figure.ts";
import { measurePeers } from "../peers.ts";
import { withService } from "../service.ts";

const clients = [1, 16, 64];

export function measurePeersBesideUs(bench: Bench): Promise<Figure[]> {
  const { signal, progress } = bench;
  const { rounds, measureMs } = bench.plan;
  return measurePeers({
    withService: (work) => withService(bench, { ROLE: "api" }, work),
    clients,
    rounds,
    measureMs,
    signal,
    progress,
  });
}
