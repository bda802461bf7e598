// The way to a request by the link of a mail. An open page waits for changes, so that it shows a colleague's vote at once.

import type { ReviewStatus } from "../../../../server/src/wire/review-contract.ts";
import type { ReviewAccess } from "./access.ts";
import { awaitStatus, isFailure } from "./calls.ts";

/** After a failure, and where the service can't let pages wait, the page asks this often. */
const pauseMs = 20_000;
/** An answer without news that came sooner shows that the service didn't wait. */
const waitMsMin = 10_000;

/** The page's own address is the link. */
export function accessByLink(code: string | null): ReviewAccess {
  const address = location.pathname.replace(/\/+$/, "");
  const access: ReviewAccess = {
    kind: "link",
    address,
    inbox: address.replace(/\/review\/[^/]*$/, "/inbox"),
    code,
    watch: (onNews) => {
      const stopping = new AbortController();
      void follow(access, onNews, stopping.signal);
      return () => stopping.abort();
    },
    onSignedOut: () => {},
  };
  return access;
}

async function follow(
  access: ReviewAccess,
  onNews: (status?: ReviewStatus) => void,
  stopped: AbortSignal,
): Promise<void> {
  let tag = "";
  while (!stopped.aborted) {
    await untilShown(stopped);
    const beganAt = performance.now();
    const status = await whileShown(stopped, (signal) => awaitStatus(access, tag, signal));
    if (stopped.aborted) return;
    if (isFailure(status)) {
      if (status.code === "not_found") onNews();
      if (isShown()) await pause(pauseMs, stopped);
      continue;
    }
    const isSame = (status.tag ?? "") === tag;
    tag = status.tag ?? "";
    onNews(status);
    if (isSame && performance.now() - beganAt < waitMsMin) await pause(pauseMs, stopped);
  }
}

function isShown(): boolean {
  return document.visibilityState === "visible";
}

/** A page in the background keeps no connection, of which a browser has few. */
async function whileShown<Result>(
  stopped: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const hidden = new AbortController();
  const onChange = () => {
    if (!isShown()) hidden.abort();
  };
  document.addEventListener("visibilitychange", onChange);
  try {
    return await work(AbortSignal.any([stopped, hidden.signal]));
  } finally {
    document.removeEventListener("visibilitychange", onChange);
  }
}

async function untilShown(stopped: AbortSignal): Promise<void> {
  if (isShown() || stopped.aborted) return;
  await new Promise<void>((resolve) => {
    const onChange = () => {
      if (!isShown() && !stopped.aborted) return;
      document.removeEventListener("visibilitychange", onChange);
      stopped.removeEventListener("abort", onChange);
      resolve();
    };
    document.addEventListener("visibilitychange", onChange);
    stopped.addEventListener("abort", onChange);
  });
}

async function pause(ms: number, stopped: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    stopped.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
