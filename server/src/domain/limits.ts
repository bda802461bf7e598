// Every bound of the service that is not a setting, by name. Characters are Unicode code points,
// bytes are UTF-8 bytes of the text as it was sent.

export const summaryCharactersMax = 500;
export const agentNameCharactersMax = 100;
export const reasoningCharactersMax = 2_000;
export const recentActionsMax = 10;
export const recentActionCharactersMax = 300;
export const agentStateBytesMax = 262_144;
export const emailCharactersMax = 254;
export const nameCharactersMax = 100;
export const resolutionNoteCharactersMax = 2_000;

export const ttlMinutesMin = 5;
export const ttlMinutesMax = 10_080;
export const defaultExpiryMinutes = 1_440;

export const bodyBytesMax = 4 * 1024 * 1024;
export const jsonDepthMax = 128;
export const idempotencyKeyCharactersMax = 255;

export const waitSecondsMax = 60;
export const waitersMax = 20_000;
export const listLimitMax = 100;
export const listLimitDefault = 20;

/** A page of a list ends early rather than answer more than this; at least one row is always answered. */
export const listBytesMax = 8 * 1024 * 1024;

/** Creates with a larger body, and reads of larger rows, travel alone, so that they delay no neighbour. */
export const gatheredCreateBytesMax = 32 * 1024;
export const gatheredReadBytesMax = 512 * 1024;
export const gatheredItemsMax = 64;
export const gatheredBatchesInFlightMax = 2;
export const gatheredWaitingMax = 10_000;

export const groupMembersMax = 100;
export const webhookUrlCharactersMax = 2_000;
export const webhookSecretOverlapHours = 24;
