// The page after signing in. It comes from the address, which anybody can write: only our own pages count.

type Place = { origin: string; basePath: string };

export function nextPage(next: string | undefined, { origin, basePath }: Place): string {
  const home = `${basePath}/app`;
  if (next === undefined || !next.startsWith("/") || !URL.canParse(next, origin)) return home;
  const url = new URL(next, origin);
  const isOurs = url.origin === origin && url.pathname.startsWith(`${home}/`);
  if (!isOurs || url.pathname.startsWith(`${home}/sign-in`)) return home;
  return url.pathname + url.search + url.hash;
}
