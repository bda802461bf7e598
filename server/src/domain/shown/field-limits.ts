// The bounds of the fields of callers and approvers, and of what a page shows of them. Characters are Unicode code
// points, bytes are UTF-8 bytes of the text as sent.

export const summaryCharactersMax = 500;
export const agentNameCharactersMax = 100;
export const reasoningCharactersMax = 2_000;
export const recentActionsMax = 10;
export const recentActionCharactersMax = 300;
export const agentStateBytesMax = 262_144;
export const emailCharactersMax = 254;
export const nameCharactersMax = 100;
export const callbackUrlCharactersMax = 2_048;
/** With the port. A name has at most 253. */
export const callbackHostCharactersMax = 261;
/** For whom receipts of one request may be. */
export const audiencesMax = 5;
export const audienceCharactersMax = 200;
/** How long receipts are valid. */
export const receiptHoursMax = 8_760;
/** How long ended requests are kept. */
export const retentionDaysMin = 30;
export const retentionDaysMax = 3_650;
export const idempotencyKeyCharactersMax = 255;
export const resolutionNoteCharactersMax = 2_000;

export const ttlMinutesMin = 5;
export const ttlMinutesMax = 10_080;
/** Different people that one stage may require. */
export const quorumMax = 20;
export const laterStagesMax = 4;
export const escalationsMax = 5;
/** Domains that a workspace may list for its approvers. */
export const approverDomainsMax = 50;
/** A delegate who is away passes it on. The chain ends at the third. */
export const delegateStepsMax = 3;
/** An absence begins within this time, and lasts no longer. */
export const absenceDaysMax = 366;
/** Of one person in one workspace, that are not over. */
export const absencesPerPersonMax = 20;
/** The next ones of a workspace. */
export const absencesListedMax = 500;
export const defaultExpiryMinutes = 1_440;

export const jsonDepthMax = 128;
/** The review page counts other waiting requests up to here; this number means "or more". */
export const othersWaitingMax = 100;
/** Requests that one call cancels. A page cancels more by further calls, so that none holds many locks for long. */
export const cancelledAtOnceMax = 200;
/** Decisions that an inbox sends at once. */
export const inboxDecisionsMax = 20;
