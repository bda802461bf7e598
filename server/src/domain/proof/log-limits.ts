// The bounds of the log.

/** The facts that one commit moves, and of one log while others have some, too. */
export const logBatch = 4_096;
export const logSharedBatch = 1_024;
/** The logs that grow in one commit. */
export const logsAtOnce = 64;
/** PostgreSQL digests this much JSON, of this many requests, in one statement. */
export const logDigestBytesMax = 16 * 1024 * 1024;
export const logDigestBatch = 512;
/** A process that still has the service's address of before leaves a log of the new one alone for so long. */
export const logRenamedBackAfterMs = 600_000;
/** An export waits so long until the log has signed what was deleted just before, and looks so often. */
export const exportWaitsForDeletionsMs = 10_000;
export const exportLooksEveryMs = 250;
