// Journeys of one-time links: they sign in a browser without a session, and ask in one that has a session.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { makeSignInLink } from "../server/src/operations/people/sign-in.ts";
import { testKeyring } from "../server/test/test-service.ts";
import { arrival, atTheDoor, enterAs, makePerson } from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, inspect } from "./review-page.ts";

const journey = journeys();

async function linkFor({ site }: Journey, email: string): Promise<string> {
  const token = await makeSignInLink(site.db, testKeyring, email);
  return `${site.url}/app/sign-in#token=${token}`;
}

/** Opens the address in another tab of the same browser. */
async function openBeside(page: Page, url: string): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(url);
  return tab;
}

/** The e-mail address that this browser is signed in with. */
async function emailOf(page: Page): Promise<unknown> {
  return page.evaluate(
    `fetch("/app/api/me").then((answer) => answer.json()).then((me) => me.email)`,
  );
}

async function countSessions({ site }: Journey, email: string): Promise<number> {
  const { rows } = await site.db.query(
    "select count(*)::int as count from sessions s join people p on p.id = s.person_id where p.email = $1",
    [email],
  );
  return rows[0].count;
}

journey(
  "a signed-in person is asked before a link signs them in as somebody else, and may stay who they are",
  atTheDoor,
  async (there) => {
    const { page, email } = await enterAs(there, "admin");
    const other = await makePerson(there, "viewer");
    const link = await linkFor(there, other);
    const tab = await openBeside(page, link);
    await tab.getByRole("heading", { name: "You are signed in already" }).waitFor();
    await tab.getByText(`You are signed in as ${email}.`).waitFor();
    assert.ok(!tab.url().includes("token"), "the address no longer holds the secret");
    await inspect(tab, "dashboard-link-question", atTheDoor);
    await button(tab, `Stay signed in as ${email}`).click();
    await arrival(tab);
    assert.equal(await emailOf(tab), email);
    // The link was not used: it still signs in its own person.
    const elsewhere = await there.visit(link);
    await arrival(elsewhere);
    assert.equal(await emailOf(elsewhere), other);
  },
);

journey(
  "a person who goes on is signed in by the link, and the session that they had is over",
  atTheDoor,
  async (there) => {
    const { page, email } = await enterAs(there, "admin");
    const other = await makePerson(there, "viewer");
    assert.equal(await countSessions(there, email), 1);
    const tab = await openBeside(page, await linkFor(there, other));
    await button(tab, "Continue with the link").click();
    await arrival(tab);
    assert.equal(await emailOf(tab), other);
    assert.equal(await countSessions(there, email), 0);
  },
);

const dead = { mayFail: ["401 /app/api/me", "401 /app/api/sign-in/link"] } as const;

journey(
  "a link that was used already says so, and changes nothing about who is signed in",
  dead,
  async (there) => {
    const { page, email } = await enterAs(there, "owner");
    const link = await linkFor(there, await makePerson(there, "viewer"));
    await arrival(await there.visit(link));
    const tab = await openBeside(page, link);
    await button(tab, "Continue with the link").click();
    await tab.getByText(/This link was used already, or is too old\./).waitFor();
    assert.equal(await emailOf(tab), email);
  },
);
