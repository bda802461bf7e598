// Where one goes after signing in. The address says so, and anybody can write an address: only pages of ours count.

type Place = { origin: string; basePath: string };

export function nextPage(next: string | undefined, { origin, basePath }: Place): string {
  const home = `${basePath}/app`;
  if (next === undefined || !next.startsWith("/") || !URL.canParse(next, origin)) return home;
  const url = new URL(next, origin);
  const isOurs = url.origin === origin && url.pathname.startsWith(`${home}/`);
  if (!isOurs || url.pathname.startsWith(`${home}/sign-in`)) return home;
  return url.pathname + url.search + url.hash;
}
