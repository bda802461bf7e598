// The code of a page, fetched when it is first needed. The router would load the whole page again when that fails, which
// during an outage leads to the browser's own error page, with no way back. Here the dashboard says so, and stays.

import { lazyRouteComponent } from "@tanstack/react-router";

/** The code of a page didn't arrive: the network or the service is away, or the service was updated. */
export class PageCodeError extends Error {
  constructor(cause: unknown) {
    super("The code of this page could not be loaded.", { cause });
    this.name = "PageCodeError";
  }
}

export function page<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (fault) {
      throw new PageCodeError(fault);
    }
  }, name);
}
