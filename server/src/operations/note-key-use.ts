// Notes which API keys are in use, many of them in one statement.

import * as apiKeys from "../storage/api-keys.ts";
import { type Database, inOneStatement } from "../storage/database.ts";
import { KeyUse } from "../storage/key-use.ts";

export function makeKeyUse(db: Database): KeyUse {
  return new KeyUse((digests) => apiKeys.noteUse(inOneStatement(db), digests));
}
