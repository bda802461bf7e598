// Which calls the service worker answers: visits to a page of the inbox, and the files that draw it. It never touches a
// call for data, so no cache ever holds any.

/** Written before the service worker by the service that serves it. Addresses are paths. */
export type Shell = {
  /** Differs where a file or the program of the service worker does. */
  version: string;
  page: string;
  files: readonly string[];
  icon: string;
  badge: string;
};

export type SeenRequest = { method: string; mode: string; url: string };

/** `page` is answered by the network, and by the kept page where there is none; `file` is kept for as long as it is true. */
export function partOfShell(
  shell: Shell,
  { method, mode, url }: SeenRequest,
  origin: string,
): "page" | "file" | null {
  const address = new URL(url);
  if (method !== "GET" || address.origin !== origin) return null;
  const { pathname } = address;
  if (mode !== "navigate") {
    return address.search === "" && shell.files.includes(pathname) ? "file" : null;
  }
  const isPage = pathname === shell.page || pathname.startsWith(`${shell.page}/`);
  return isPage && !pathname.startsWith(`${shell.page}/api/`) ? "page" : null;
}

/** Services below other paths of the host keep theirs. */
export function cacheName({ page, version }: Shell): string {
  return `${cachePrefix(page)}${version}`;
}

export function isOldCache(name: string, shell: Shell): boolean {
  return name.startsWith(cachePrefix(shell.page)) && name !== cacheName(shell);
}

function cachePrefix(page: string): string {
  return `countersign-shell ${page} `;
}
