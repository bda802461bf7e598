// Draws a message in Slack again, because somebody pressed a button that it should no longer have.

import { type Database, inOneStatement } from "../../database/database.ts";
import * as clickedMessages from "../../storage/channels/clicked-messages.ts";

export async function redrawMessage(
  { db, onDue }: { db: Database; onDue: () => void },
  message: { workspaceId: string; id: string },
): Promise<void> {
  await clickedMessages.wantAgain(inOneStatement(db), message);
  onDue();
}
