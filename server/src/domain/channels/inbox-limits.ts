// The bounds of the inbox, and of pages that wait for changes.

/** The requests in one list of an inbox, and on a page of what is over. */
export const inboxWaitingMax = 200;
export const inboxPastMax = 50;
/** The newest places of a person that are looked at for a list: nobody has read so many. */
export const inboxLookedAtMax = 10_000;
/** Browsers that listen for changes of their inbox: of one person, and in one process. */
export const inboxListenersPerPersonMax = 8;
export const inboxListenersMax = 5_000;
/** How often listening people's inboxes are looked at, all of them together, and the pause after a change was announced. */
export const inboxPollMs = 1_000;
export const inboxPollPauseMs = 100;
/** A listener that was told nothing for so long gets a sign of life. It is below the time-outs of common proxies. */
export const inboxHeartbeatMs = 20_000;
/** The newest open requests of a person whose changes are watched. */
export const inboxWatchedMax = 500;
/** An open review page waits so long for a change. Of one workspace so many wait; one more is answered at once. */
export const statusWaitMs = 20_000;
export const statusWaitsMax = 10_000;
export const statusWaitsPerWorkspaceMax = 1_000;
