// Notes which API keys are in use, many of them in one statement.

import { type Database, inOneStatement } from "../../database/database.ts";
import { asHolder } from "../../database/holder.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { KeyUse } from "../../storage/workspaces/key-use.ts";

export function makeKeyUse(db: Database): KeyUse {
  // Begun by whichever call came first, and written for all.
  return new KeyUse((digests) =>
    asHolder(null, () => apiKeys.noteUse(inOneStatement(db), digests)),
  );
}
