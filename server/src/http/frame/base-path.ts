// The path under which people reach the service: a proxy in front may pass it on with every call, or take it off.

/** Empty when PUBLIC_URL has no path. */
export function basePathOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, "");
}

/** The address without the path, unless it is one of ours as it stands: then the path merely has the name of a route. */
export function withoutBasePath(
  url: string,
  basePath: string,
  isKnown: (path: string) => boolean,
): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  const isBelow = rest === "" || rest.startsWith("/") || rest.startsWith("?");
  if (!isBelow || isKnown(url.split("?")[0] ?? "")) return url;
  return rest.startsWith("/") ? rest : `/${rest}`;
}
