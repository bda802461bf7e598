// How long this thread keeps all other work waiting.

/** Tells how long this thread computed at a stretch. Times when the machine did something else don't count. */
export function watchThread(): { stop: () => number } {
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let lastMs = usedMs();
  let longestMs = 0;
  const look = () => {
    const nowMs = usedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const timer = setInterval(look, 1);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      return longestMs;
    },
  };
}
