// Notes which API keys are in use, many in one statement.

import { type Database, inOneStatement } from "../../database/database.ts";
import { asHolder } from "../../database/holder.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { KeyUse } from "../../storage/workspaces/key-use.ts";

export function makeKeyUse(db: Database): KeyUse {
  // The first call starts the write, and it covers all of them.
  return new KeyUse((digests) =>
    asHolder(null, () => apiKeys.noteUse(inOneStatement(db), digests)),
  );
}
