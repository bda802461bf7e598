// Evidence for tests in which nobody opens a page, and decisions straight in the database with it.

import type { Transaction } from "../src/database/database.ts";
import type { ShownEvidence } from "../src/domain/proof/evidence.ts";
import {
  type Cancel,
  type DecidedResolution,
  type DecidedVia,
  resolve,
} from "../src/storage/approvals/approval-resolution.ts";

export const someEvidence: ShownEvidence = {
  openedAt: null,
  amr: ["mail"],
  address: "203.0.113.7",
  userAgent: null,
  page: null,
  signed: null,
  shownDigest: Buffer.alloc(32, 7),
};

/** Null if it wasn't this call that resolved it. */
export function resolveNow(
  tx: Transaction,
  where: { workspaceId: string; id: string },
  resolution: DecidedResolution | Cancel,
  via: DecidedVia = "link",
): Promise<Date | null> {
  if (resolution.status === "CANCELLED") return resolve(tx, where, resolution);
  return resolve(tx, where, resolution, { via, evidence: someEvidence });
}
