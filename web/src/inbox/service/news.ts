// Tells the inbox when something may have changed: by server-sent events, or by asking where those don't come through.

export type News = {
  /** Calls back at each change while the page is seen, and at once when it is seen again, until stopped. */
  watch: (onNews: () => void) => () => void;
  /** Calls back out of sight, too, but seldom: for the count in the title. */
  watchUnseen: (onNews: () => void) => () => void;
  /** As if something had changed. */
  tell: () => void;
  /** Begins to listen, once. Somebody is signed in, or it isn't known yet because the service gave no answer. */
  start: () => void;
  stop: () => void;
};

/** Without a stream, the page asks as often as this. */
const askMs = 10_000;
/** A stream that is silent for so long may be held up on its way, though it looks open. */
const calmMs = 60_000;
/**
 * Out of sight, nobody sees more of the page than the count in its title, so only that is asked for, and this often. Mail,
 * push and Slack tell of a new request sooner.
 */
const unseenMs = 5 * 60_000;
/** A stream that was refused is tried again after this. */
const againMs = 30_000;

export function newsFrom(address: string): News {
  const watchers = new Set<() => void>();
  const unseenWatchers = new Set<() => void>();
  let stream: EventSource | null = null;
  let toldAt = Number.NEGATIVE_INFINITY;
  let refusedAt = Number.NEGATIVE_INFINITY;
  const tell = () => {
    toldAt = performance.now();
    for (const onNews of unseenWatchers) onNews();
    if (isHidden()) return;
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
    const isRefused = stream?.readyState === EventSource.CLOSED;
    if (!isHidden() && isRefused && now - refusedAt >= againMs) listen();
    const pauseMs = stream?.readyState === EventSource.OPEN ? calmMs : askMs;
    if (now - toldAt >= (isHidden() ? unseenMs : pauseMs)) tell();
  };
  /** A browser has few connections to one host: tabs that nobody sees leave them to the others. */
  const onVisibility = () => {
    stream?.close();
    stream = null;
    if (isHidden()) return;
    tell();
    listen();
  };
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    watch: (onNews) => {
      watchers.add(onNews);
      return () => watchers.delete(onNews);
    },
    watchUnseen: (onNews) => {
      unseenWatchers.add(onNews);
      return () => unseenWatchers.delete(onNews);
    },
    tell,
    start: () => {
      if (timer !== undefined) return;
      if (!isHidden()) listen();
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

function isHidden(): boolean {
  return document.visibilityState === "hidden";
}
