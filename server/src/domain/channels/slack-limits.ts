// The bounds of clicks in Slack.

/** Of a click that Slack sends over HTTP. It holds the whole message or modal, escaped twice. */
export const slackInteractionBytesMax = 1024 * 1024;
/** Calls of one network address, whoever makes them. All is counted, because only the body tells whether it is proven. */
export const slackCallsLimit = { perSecond: 50, burst: 500 };
/** More JSON than this fits into no modal, and isn't read for one. */
export const modalJsonBytesMax = 64 * 1024;
/** Slack waits three seconds for a modal and for an acknowledgement; the way there and back takes some of them. */
export const clickPatience = { callMs: 2_000, acknowledgeMs: 2_400 };
export const privateAnswerTimeoutMs = 5_000;
