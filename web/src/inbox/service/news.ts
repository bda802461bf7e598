// Tells the inbox when something may have changed: by server-sent events, or by asking where those don't come through.

export type News = {
  /** Calls back at each change, until stopped. */
  watch: (onNews: () => void) => () => void;
  /** As if something had changed. */
  tell: () => void;
  /** Begins to listen, once. Somebody is signed in, or it isn't known yet because the service gave no answer. */
  start: () => void;
  stop: () => void;
};

/** Without a stream, the page asks as often as this. */
const askMs = 10_000;
/** A stream that is silent for so long may be held up on its way, though it looks open. Out of sight, this is enough. */
const calmMs = 60_000;
/** A stream that was refused is tried again after this. */
const againMs = 30_000;

export function newsFrom(address: string): News {
  const watchers = new Set<() => void>();
  let stream: EventSource | null = null;
  let toldAt = Number.NEGATIVE_INFINITY;
  let refusedAt = Number.NEGATIVE_INFINITY;
  const tell = () => {
    toldAt = performance.now();
    for (const onNews of watchers) onNews();
  };
  const listen = () => {
    const opened = new EventSource(address);
    // What changed before it was open is told by nobody.
    opened.addEventListener("open", tell);
    opened.addEventListener("changed", tell);
    opened.addEventListener("error", () => {
      if (opened.readyState === EventSource.CLOSED) refusedAt = performance.now();
    });
    stream = opened;
  };
  const look = () => {
    const now = performance.now();
    const isHidden = document.visibilityState === "hidden";
    const isRefused = stream?.readyState === EventSource.CLOSED;
    if (!isHidden && isRefused && now - refusedAt >= againMs) listen();
    const isCalm = isHidden || stream?.readyState === EventSource.OPEN;
    if (now - toldAt >= (isCalm ? calmMs : askMs)) tell();
  };
  /** A browser has few connections to one host: tabs that nobody sees leave them to the others. */
  const onVisibility = () => {
    stream?.close();
    stream = null;
    if (document.visibilityState === "hidden") return;
    tell();
    listen();
  };
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    watch: (onNews) => {
      watchers.add(onNews);
      return () => watchers.delete(onNews);
    },
    tell,
    start: () => {
      if (timer !== undefined) return;
      listen();
      timer = setInterval(look, askMs);
      document.addEventListener("visibilitychange", onVisibility);
    },
    stop: () => {
      stream?.close();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    },
  };
}
