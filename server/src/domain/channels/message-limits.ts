// The bounds of messages in channels beside mail.

/** Messages of one workspace in one channel that are under way, from all processes together. */
export const messagesPerWorkspaceMax = 8;
/** A message is sent by then, or counts as not sent. */
export const messageTimeoutMs = 15_000;
/** The waits before a message that was refused for now is tried again: an hour in all. Then it is given up. */
export const messageRetryDelaysMs = [5, 15, 30, 60, 120, 240, 480, 900, 900, 900].map(
  (seconds) => seconds * 1_000,
);
/** A message that arrived is not changed again sooner than this: many votes at once make few updates. */
export const messageUpdateGapSeconds = 1;
/** Of the news that waits, as many of the oldest are looked through for more of the same request. */
export const newsWindow = 256;
/** The most JSON that is read to draw a message. More is never shown in one. */
export const messageJsonBytesMax = 64 * 1024;
/** What Slack says of an address is believed for so long. */
export const slackLookupMinutes = 10;
/** Messages that are on their way to Slack at once, of one process. */
export const slackMessagesAtOnceMax = 8;
