// Brings the page back after an outage: asks the service now and then whether it is there again, and then reads anew
// everything that failed. So nobody has to press anything, and a failed page isn't drawn again and again meanwhile.

import type { Query, QueryClient } from "@tanstack/react-query";
import { isPassing } from "./passing.ts";
import { retryDelayMs } from "./retry-delay.ts";

/** `ask` is a cheap call that succeeds once the service is back. */
export function watchForReturn(client: QueryClient, ask: () => Promise<unknown>): void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isLooking = false;
  let failures = 0;
  const hasFailed = () => client.getQueryCache().findAll(failed).length > 0;
  const wait = () => {
    if (timer !== null || isLooking || !hasFailed()) return;
    timer = setTimeout(look, retryDelayMs(failures + 1, null));
  };
  const look = async () => {
    if (isLooking) return;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    isLooking = true;
    if (hasFailed() && (await isThere(ask))) await readFailedAgain(client);
    isLooking = false;
    failures = hasFailed() ? failures + 1 : 0;
    wait();
  };
  client.getQueryCache().subscribe(wait);
  addEventListener("online", () => void look());
}

/** Reads everything on the page anew that failed for a passing reason. */
export async function readFailedAgain(client: QueryClient): Promise<void> {
  await client.refetchQueries(failed, { cancelRefetch: false });
}

const failed = {
  type: "active",
  predicate: ({ state: { status, error } }: Query) =>
    status === "error" && error !== null && isPassing(error),
} as const;

async function isThere(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch {
    return false;
  }
}
