// The doctor's look at the log's witnesses: whether each follows, and what its operator needs to know of the log.

import type { Database } from "../database/database.ts";
import type { WitnessSetting } from "../domain/proof/witness-settings.ts";
import { readVerifierKey } from "../operations/proof/log-status.ts";
import * as logCosignatures from "../storage/proof/log-cosignatures.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** A witness may be away for a while. */
const lagMsMax = 3_600_000;

/** Prints nothing where no witness is named. */
export async function examineWitnesses(
  db: Database,
  witnesses: readonly WitnessSetting[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { key } of witnesses) findings.push(await examineWitness(db, key.name));
  return findings;
}

async function examineWitness(db: Database, name: string): Promise<Finding> {
  const state = await logCosignatures.findState(db, name);
  if (state === null) return ok("witness", `${name} has nothing to cosign yet`);
  const { origin, size, cosignedSize, contradictedSize, behindSince, now } = state;
  if (contradictedSize !== null) {
    return failed(
      "witness",
      `${name} has seen ${contradictedSize} entries of ${origin} that this database doesn't continue: it was rolled back or changed; after a restore run countersign log reopen`,
    );
  }
  const count = `${cosignedSize} of ${size} entries of ${origin}`;
  const isLate = behindSince !== null && now.getTime() - behindSince.getTime() > lagMsMax;
  if (cosignedSize > 0 && !isLate) return ok("witness", `${name} has cosigned ${count}`);
  const how = `Its operator starts it with --log ${(await readVerifierKey(db, origin)) ?? "VKEY"}; the service's log says why it did not answer.`;
  return warning("witness", `${name} has cosigned ${count}. ${how}`);
}
