// The delay before a retry: as long as the service says, or twice as long each time.

const firstDelayMs = 1_000;
const delayMsMax = 30_000;

/** `failures` counts from 0. */
export function retryDelayMs(failures: number, retryAfterMs: number | null): number {
  return Math.min(retryAfterMs ?? firstDelayMs * 2 ** failures, delayMsMax);
}

/** Retry-After, if it is in seconds. */
export function toRetryAfterMs(header: string | null): number | null {
  return header !== null && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1_000 : null;
}
