// The page after signing in. It comes from the address, which anybody can write: only our own pages count.

type Place = { origin: string; basePath: string };

export function nextPage(next: string | undefined, { origin, basePath }: Place): string {
  const home = `${basePath}/app`;
  if (next === undefined || !next.startsWith("/") || !URL.canParse(next, origin)) return home;
  const url = new URL(next, origin);
  const isOfDashboard =
    url.pathname.startsWith(`${home}/`) && !url.pathname.startsWith(`${home}/sign-in`);
  if (url.origin !== origin || !(isOfDashboard || isInbox(url.pathname, basePath))) return home;
  return url.pathname + url.search + url.hash;
}

/** The inbox is a page of its own: the browser has to load it. */
export function isInbox(path: string, basePath: string): boolean {
  const inbox = `${basePath}/inbox`;
  return path === inbox || (path.startsWith(`${inbox}/`) && !path.startsWith(`${inbox}/api/`));
}
