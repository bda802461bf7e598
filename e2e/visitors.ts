// The browsers of visitors. Each visitor has one of their own: no cookies, nothing stored, nothing allowed. Once a
// journey has ended well, the next one gets its browsers, emptied. Their processes have compiled our programs and
// axe-core already, which takes a new process longer than most pages take to load.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { forgetProblems, hasLeft, openContext } from "./browser.ts";

/** The anchor is a page that nobody looks at. */
export type Visitor = { context: BrowserContext; key: string; origin: string; anchor: Page | null };

export class Visitors {
  private readonly browser: Browser;
  private readonly idle = new Map<string, Visitor[]>();

  constructor(browser: Browser) {
    this.browser = browser;
  }

  /** A browser for somebody who was never here. They send the headers with every call. */
  async enter(
    siteUrl: string,
    headers: Record<string, string>,
    options: BrowserContextOptions,
  ): Promise<Visitor> {
    const { origin } = new URL(siteUrl);
    const key = JSON.stringify([origin, options]);
    const known = this.idle.get(key)?.pop();
    const visitor = known ?? {
      context: await openContext(this.browser, siteUrl, options),
      key,
      origin,
      anchor: null,
    };
    forgetProblems(visitor.context);
    await visitor.context.setExtraHTTPHeaders({ ...headers, ...options.extraHTTPHeaders });
    return visitor;
  }

  /** Keeps the emptied browser for the next visitor with the same options. */
  async leave(visitor: Visitor): Promise<void> {
    if (hasLeft(visitor.context) || !(await empty(visitor))) {
      await visitor.context.close();
      return;
    }
    this.idle.set(visitor.key, [...(this.idle.get(visitor.key) ?? []), visitor]);
  }
}

/** Takes away all that the visitor left behind. False if something would stay. */
async function empty(visitor: Visitor): Promise<boolean> {
  const { context, origin } = visitor;
  // Without a page its process would end, and with it all that it has compiled.
  const anchor = visitor.anchor ?? (await context.newPage());
  visitor.anchor = anchor;
  await Promise.all(
    context
      .pages()
      .map((page) => (page === anchor ? null : page.close({ runBeforeUnload: false }))),
  );
  await Promise.all([
    context.clearCookies(),
    context.clearPermissions(),
    context.unrouteAll(),
    context.setOffline(false),
    clearStorage(anchor, origin),
  ]);
  // A clock that a journey has set can't be taken back.
  return (await anchor.evaluate("Function.prototype.toString.call(Date)")) === String(Date);
}

async function clearStorage(anchor: Page, origin: string): Promise<void> {
  const session = await anchor.context().newCDPSession(anchor);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await session.detach();
}

/** The pages that the visitor has opened. */
export function pagesOf({ context, anchor }: Visitor): Page[] {
  return context.pages().filter((page) => page !== anchor);
}
