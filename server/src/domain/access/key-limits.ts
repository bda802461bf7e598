// The bounds of API keys.

/** Keys in use of one workspace: one for each agent, and all of them fit on a page where one is sought to revoke it. */
export const keysPerWorkspaceMax = 100;
/** The list shows this many revoked keys, the newest; the activity names all. */
export const revokedKeysListed = 100;
/** How often, and how long each time, a revoked key's creates are waited for. One that takes longer is stuck. */
export const createsAwaitedLooks = 250;
export const createsAwaitedSeconds = 0.02;
