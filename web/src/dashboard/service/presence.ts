// Whether the service is there at all, for pages whose own code is missing.

const lookEveryMs = 4_000;
const timeoutMs = 10_000;

/** Asks for the page itself, which needs neither a session nor the database. */
export async function isServiceThere(): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(location.pathname, { method: "HEAD", cache: "no-store", signal });
    return answer.status < 500;
  } catch {
    return false;
  }
}

/**
 * Calls back once the service is there again. Not if it was there all along: then something else is wrong, and loading
 * the page again by itself would never end. Answers a function that stops looking.
 */
export function onServiceBack(callBack: () => void): () => void {
  let wasAway = false;
  let timer: ReturnType<typeof setTimeout>;
  let isOver = false;
  const look = async () => {
    const isThere = await isServiceThere();
    if (isOver) return;
    if (isThere && wasAway) callBack();
    else if (!isThere || wasAway) timer = setTimeout(look, lookEveryMs);
    wasAway ||= !isThere;
  };
  void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
