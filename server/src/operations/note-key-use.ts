// Notes which API keys are in use, many of them in one statement.

import * as apiKeys from "../storage/api-keys.ts";
import { type Database, inOneStatement } from "../storage/database.ts";
import { asHolder } from "../storage/holder.ts";
import { KeyUse } from "../storage/key-use.ts";

export function makeKeyUse(db: Database): KeyUse {
  // Begun by whichever call came first, and written for all.
  return new KeyUse((digests) =>
    asHolder(null, () => apiKeys.noteUse(inOneStatement(db), digests)),
  );
}
