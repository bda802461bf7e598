// The bounds of a witness and of talking to one.

/** 63 lines of proof, and a note with 16 signatures of the largest kind (5 kB each), in base64. */
export const witnessBodyBytesMax = 128 * 1024;
/** More cannot be needed: no tree is higher (c2sp.org/tlog-witness). */
export const witnessProofLinesMax = 63;
export const witnessConnectionsMax = 256;
/** How long a call to a witness may take to arrive. */
export const witnessTimeoutMs = 10_000;
/** Signed checkpoints that contradict the witness's own are proof against a log. A flood of them proves no more. */
export const witnessConflictsKeptMax = 100;
/** How often there is a checkpoint to submit, and the most that a witness which fails is left alone. */
export const witnessPaceMs = 10_000;
export const witnessPauseMsMax = 300_000;
/** How often the worker looks whether a checkpoint of the day is to be told, and how many workspaces it tells at once. */
export const checkpointsToldEveryMs = 60_000;
export const checkpointsToldAtOnce = 50;
/** Exports read this many entries or checkpoints, and tiles, at a time. */
export const exportedEntriesPage = 500;
export const exportedTilesPage = 16;
