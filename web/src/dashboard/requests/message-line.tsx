// Lines of a request's history about messages in Slack, Teams and on devices.

import type { ReactNode } from "react";
import type { MessageEntry } from "../../../../server/src/wire/dashboard-history.ts";
import { Visible } from "../../look/visible-text.tsx";
import { failureWords, messageNames } from "./message-words.ts";

export function messageSentence(entry: MessageEntry): ReactNode {
  const { channel, to } = entry;
  const start = (
    <>
      {messageNames[channel]} to <Visible text={to} />
    </>
  );
  if (entry.kind === "message_sent") return <>{start} sent</>;
  return (
    <>
      {start} failed: <Visible text={failureWords(entry.failure)} />.
      {entry.isRetried === true && " It will be tried again."}
      {entry.isMailed && " Mail was sent instead."}
    </>
  );
}
