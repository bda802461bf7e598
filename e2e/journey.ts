// Browser journeys: a person gets a mail, opens its link in a real Chromium, and the agent learns what they decided.
//
//   const journey = journeys();
//
//   journey("a rejection carries its note to the agent", async ({ createRequest, mailedLink, visit, readRequest }) => {
//     const { id } = await createRequest({ summary: "Refund order 1042", notify: "ann@example.com" });
//     const page = await visit((await mailedLink("ann@example.com")).url);
//     …
//     assert.equal((await readRequest(id)).status, "REJECTED");
//   });
//
// - All files of a process share one Chromium (browser.ts) and, with the same options, one service (site.ts). Both start
//   with the first journey. Each journey has a workspace of its own, and each `visit` a browser context in which nothing
//   is left of anybody (visitors.ts): another person, or the same one elsewhere. A second tab of the same person is
//   `page.context().newPage()`.
// - When a journey ends, nothing may have gone wrong in any of its pages: no error on the console, no violation of the
//   Content-Security-Policy, no call to another origin. Answers of 400 and above that belong to it are named:
//   `{ mayFail: ["409 /review/"] }`. `assertClean` asks the same earlier. 429 and 503 are let pass: a busy machine
//   brings them about, and the caller asks again.
// - Time is moved by moving rows: `moveExpiry`, or SQL on `site.db`. Nothing sleeps; Playwright's expectations wait.
// - The compiler knows no DOM here, on purpose: look through locators as a person does, or `evaluate` a string.
// - Without a Chromium (TEST_CHROMIUM, which scripts/test.ts sets once for all files) every journey counts as skipped.
// - TEST_SCREENSHOTS=FOLDER keeps what `screenshot` takes, and the pages of journeys that fail.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, type TestContext, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { ApprovalRequest, CreateRequest, RedeemedRequest } from "../sdk/src/contract.ts";
import { digestOfReviewToken } from "../server/src/domain/access/review-link.ts";
import { isRefusal } from "../server/src/domain/refusal.ts";
import type { WorkspaceSettings } from "../server/src/domain/workspace/workspace-settings.ts";
import { createGroup, removeGroupMember } from "../server/src/operations/people/manage-group.ts";
import { testHangMs, until } from "../server/test/patience.ts";
import type { ReceivedMail } from "../server/test/test-mailbox.ts";
import { makeWorkspace } from "../server/test/test-service.ts";
import {
  type Allowances,
  assertClean,
  isAskedAgain,
  open,
  openBrowser,
  problemsOf,
  screenshot,
} from "./browser.ts";
import { type Site, type SiteOptions, startSite } from "./site.ts";
import { pagesOf, type Visitor, Visitors } from "./visitors.ts";

export type Journey = {
  site: Site;
  workspace: { id: string; key: string };
  /** As an agent over the API; text is sent as it is, for JSON that no JavaScript value can hold. */
  createRequest(body: CreateRequest | string): Promise<ApprovalRequest>;
  readRequest(id: string): Promise<ApprovalRequest>;
  /** The answer's exact text: in `readRequest` numbers may have been rounded. */
  readRequestText(id: string): Promise<string>;
  cancelRequest(id: string): Promise<ApprovalRequest>;
  redeemRequest(id: string): Promise<RedeemedRequest>;
  /** Waits for the mail to this address, about the request that was created last unless one is named. */
  mailedLink(to: string, requestId?: string): Promise<MailedLink>;
  /** Sets its end, in milliseconds from now; a negative number is in the past. */
  moveExpiry(requestId: string, fromNowMs: number): Promise<void>;
  /** Requests ask it as `notify: "group:KEY"`. */
  makeGroup(members: string[], named?: { key?: string; name?: string }): Promise<Group>;
  /** Opens an address in a browser of its own. */
  visit(url: string, options?: BrowserContextOptions): Promise<Page>;
};

export type MailedLink = { url: string; code: string | null; mail: ReceivedMail };
export type Group = { id: string; key: string; removeMember(email: string): Promise<void> };
export type JourneyOptions = Allowances & { workspace?: Partial<WorkspaceSettings> };

type Walk = (journey: Journey, t: TestContext) => Promise<void>;
type Stage = { site: Site; visitors: Visitors };

/** All files of this process share these. The first journey that needs them opens them. */
const shared: {
  browser: Promise<Browser> | null;
  visitors: Promise<Visitors> | null;
  sites: Map<string, Promise<Site>>;
} = { browser: null, visitors: null, sites: new Map() };
after(closeShared);

/** Journeys at the service that starts with these options. */
export function journeys(siteOptions: SiteOptions = {}) {
  const executablePath = process.env.TEST_CHROMIUM ?? "";
  const skip = executablePath === "" ? "no Chromium" : false;
  // The tag names the file in the list of the slowest tests.
  const tags = process.argv.slice(1, 2);
  return (name: string, ...rest: [Walk] | [JourneyOptions, Walk]): void => {
    const [options, walk] = rest.length === 1 ? [{}, rest[0]] : rest;
    test(name, { skip, timeout: testHangMs, tags }, async (t) => {
      await runJourney(await openStage(executablePath, siteOptions), options, walk, t);
    });
  };
}

async function openStage(executablePath: string, options: SiteOptions): Promise<Stage> {
  const key = JSON.stringify(options);
  const starting = shared.sites.get(key) ?? startSite(options);
  shared.sites.set(key, starting);
  shared.browser ??= openBrowser(executablePath);
  shared.visitors ??= shared.browser.then((browser) => new Visitors(browser));
  const [site, visitors] = await Promise.all([starting, shared.visitors]);
  return { site, visitors };
}

async function closeShared(): Promise<void> {
  // Had one failed to start, then every journey would have said why.
  const browser = await shared.browser?.catch(() => null);
  const sites = await Promise.all([...shared.sites.values()].map((one) => one.catch(() => null)));
  const closing = [browser?.close(), ...sites.map((site) => site?.stop())];
  const failed = (await Promise.allSettled(closing)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

let visitorsSoFar = 0;

async function runJourney(
  { site, visitors }: Stage,
  options: JourneyOptions,
  walk: Walk,
  t: TestContext,
): Promise<void> {
  const here: Visitor[] = [];
  const visit = async (url: string, contextOptions: BrowserContextOptions = {}) => {
    visitorsSoFar += 1;
    // The site trusts a proxy on its own machine, so each visitor has a network address and limits of their own.
    const headers = { "x-forwarded-for": `198.51.100.${visitorsSoFar % 250}` };
    const visitor = await visitors.enter(site.url, headers, contextOptions);
    here.push(visitor);
    const page = await visitor.context.newPage();
    await open(page, url);
    return page;
  };
  try {
    const agent = await makeAgent(site, options.workspace);
    await walk({ site, ...agent, visit }, t);
    for (const page of here.flatMap(pagesOf)) await assertClean(page, options);
    for (const { context } of here) assert.deepEqual(problemsOf(context, options), []);
  } catch (error) {
    await showWhatWasThere(here, options, t);
    await Promise.all(here.map(({ context }) => context.close()));
    throw error;
  }
  await Promise.all(here.map((visitor) => visitors.leave(visitor)));
}

/** The page of a failing journey, for the person who has to find out why. */
async function showWhatWasThere(
  visitors: Visitor[],
  options: JourneyOptions,
  t: TestContext,
): Promise<void> {
  for (const problem of visitors.flatMap(({ context }) => problemsOf(context, options))) {
    t.diagnostic(problem);
  }
  const pages = visitors.flatMap(pagesOf);
  for (const [index, page] of pages.entries()) {
    await screenshot(page, `failed ${t.name.replaceAll(/[^\w -]/g, "")} ${index + 1}`);
  }
}

/** A workspace with its key, and all that happens without a browser. */
export async function makeAgent(
  site: Site,
  settings: Partial<WorkspaceSettings> = {},
): Promise<Omit<Journey, "site" | "visit">> {
  const workspace = await makeWorkspace(site.db, { name: "Acme Shop", plan: "pro", ...settings });
  const mailsBefore = site.mails.length;
  let lastId = "";
  const call = (method: string, path: string, body?: string) =>
    callApi(site, workspace.key, { method, path, body });
  const readText = (id: string) => call("GET", `/v1/requests/${id}`);
  return {
    workspace,
    createRequest: async (body) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const created: ApprovalRequest = JSON.parse(await call("POST", "/v1/requests", text));
      lastId = created.id;
      return created;
    },
    readRequest: async (id) => JSON.parse(await readText(id)),
    readRequestText: readText,
    cancelRequest: async (id) => JSON.parse(await call("POST", `/v1/requests/${id}/cancel`)),
    redeemRequest: async (id) => JSON.parse(await call("POST", `/v1/requests/${id}/redeem`)),
    mailedLink: (to, requestId = lastId) =>
      findMailedLink(site, workspace.id, { to, requestId, mailsBefore }),
    moveExpiry: (id, fromNowMs) => moveExpiry(site, [workspace.id, id, fromNowMs]),
    makeGroup: (members, { key = "finance", name = "Finance" } = {}) =>
      makeGroup(site, { workspaceId: workspace.id, key, name, members }),
  };
}

/** Asks again when told to come back later, as the SDK does. */
async function callApi(
  { address }: Site,
  key: string,
  { method, path, body }: { method: string; path: string; body: string | undefined },
): Promise<string> {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { "idempotency-key": randomUUID() }),
  };
  return until(async () => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (isAskedAgain(response.status)) return null;
    assert.ok(response.ok, `${method} ${path} answers ${response.status}: ${text}`);
    return text;
  }, `${method} ${path} is answered`);
}

function findMailedLink(
  site: Site,
  workspaceId: string,
  { to, requestId, mailsBefore }: { to: string; requestId: string; mailsBefore: number },
): Promise<MailedLink> {
  return until(async () => {
    const mails = site.mails.slice(mailsBefore);
    for (const mail of mails.filter(({ recipients }) => recipients.includes(to))) {
      const link = linkIn(mail);
      if (link !== null && (await isLinkTo(site, link.url, [workspaceId, requestId]))) return link;
    }
    return null;
  }, `a mail to ${to} about ${requestId}`);
}

/** Reads the mail's own lines, as a person does: the agent's words stand behind "> ". */
function linkIn(mail: ReceivedMail): MailedLink | null {
  const text = mail.text.replaceAll("\r\n", "\n");
  const url = /^Review request:\n(\S+)$/m.exec(text)?.[1];
  const code = /^Your code: (\S+)$/m.exec(text)?.[1] ?? null;
  return url === undefined ? null : { url, code, mail };
}

async function isLinkTo({ db, url }: Site, link: string, ids: string[]): Promise<boolean> {
  const start = `${url}/review/`;
  assert.ok(link.startsWith(start), `the mailed link ${link} must start with ${start}`);
  const { rowCount } = await db.query(
    "select from reviewers where workspace_id = $1 and approval_id = $2 and token_digest = $3",
    [...ids, digestOfReviewToken(link.slice(start.length))],
  );
  return rowCount === 1;
}

async function moveExpiry({ db }: Site, values: [string, string, number]): Promise<void> {
  // The creation moves along with the end, so that what the page says of both stays true.
  const { rowCount } = await db.query(
    `update approvals set expires_at = now_ms() + $3 * interval '1 millisecond',
       created_at = created_at - (expires_at - now_ms()) + $3 * interval '1 millisecond'
     where workspace_id = $1 and id = $2 and status = 'PENDING'`,
    values,
  );
  assert.equal(rowCount, 1, "only a pending request can run out");
}

async function makeGroup(
  { db }: Site,
  input: { workspaceId: string; key: string; name: string; members: string[] },
): Promise<Group> {
  const group = await createGroup(db, input);
  if (isRefusal(group)) throw new Error(group.message);
  return {
    id: group.id,
    key: group.key,
    removeMember: async (email) => {
      const changed = await removeGroupMember(db, group.id, email);
      if (isRefusal(changed)) throw new Error(changed.message);
    },
  };
}
