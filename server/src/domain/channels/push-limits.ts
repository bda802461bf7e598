// The bounds of push messages.

/** A person's browsers that get push messages. */
export const pushBrowsersMax = 10;
export const pushEndpointCharactersMax = 1_000;
/** Covers everything from the lookup of the name to the last byte of the answer. */
export const pushTimeoutMs = 10_000;
/** The most people that one process sends to at a time. */
export const pushesInFlightMax = 32;
/** A person is told at most so often. The next message counts all that came meanwhile. */
export const pushPauseSeconds = 10;
/** A push service keeps a message for a browser that is off until its request ends, at most this long. */
export const pushKeptSecondsMax = 24 * 3_600;
/** All messages have one size. */
export const pushPaddedBytes = 64;
/** More waiting requests than this aren't counted. */
export const pushCountMax = 100;
