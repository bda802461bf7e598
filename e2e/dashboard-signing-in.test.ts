// Journeys through the door of the dashboard: by a code, by a passkey, by a company's own sign-in, and out again.

import assert from "node:assert/strict";
import { after } from "node:test";
import type { Page } from "playwright-core";
import { startIdentityProvider } from "../server/test/test-identity-provider.ts";
import { useAuthenticator } from "./authenticator.ts";
import {
  arrival,
  atTheDoor,
  codeAfter,
  enterAs,
  enterByLink,
  goAhead,
  goTo,
  makePerson,
  signInByCode,
  urlOf,
} from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, inspect } from "./review-page.ts";

const provider = await startIdentityProvider();
after(() => provider.stop());

const journey = journeys({
  environment: {
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: "Acme",
  },
});

const withCompany = { ...atTheDoor, mayVisit: provider.issuer } as const;

journey(
  "whom the company vouches for arrives where they were going; whom it does not is told what to do",
  withCompany,
  async (there) => {
    const email = await makePerson(there, "admin");
    const page = await there.visit(urlOf(there, "/keys"));
    const refusals = [
      { error: "access_denied" },
      { claims: { email: "stranger@example.com", email_verified: true } },
    ];
    for (const says of refusals) {
      provider.says = says;
      await page.getByRole("link", { name: "Continue with Acme" }).click();
      const told = page.getByRole("alert");
      await told.getByText("Your company’s sign-in didn’t work.").waitFor();
      await told.getByText(/Try again, or sign in with a code by mail/).waitFor();
    }
    await inspect(page, "dashboard-company-refused", withCompany);
    assert.equal(await countSessions(there, email), 0);
    provider.says = { claims: { email, email_verified: true } };
    await page.getByRole("link", { name: "Continue with Acme" }).click();
    await arrival(page);
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    assert.equal(page.url(), urlOf(there, "/keys"));
    await page.goto(`${there.site.url}/app/account`);
    await page.getByText("Company sign-in").waitFor();
    assert.equal(await countSessions(there, email), 1);
  },
);

const mistyped = { mayFail: ["401 /app/api/me", "401 /app/api/sign-in/code/verify"] } as const;

journey(
  "a code outlives going back and loading again, is dead after five wrong tries, and a new one works",
  mistyped,
  async (there) => {
    const email = await makePerson(there, "viewer");
    const page = await there.visit(urlOf(there, "/requests?status=PENDING"));
    const field = page.getByLabel("Six-digit code");
    const code = await codeAfter(there, email, async () => {
      await page.getByLabel("Your e-mail address").fill(email);
      await button(page, "Mail me a code").click();
    });
    await field.waitFor();
    await page.goBack();
    assert.equal(await page.getByLabel("Your e-mail address").inputValue(), email);
    await page.goForward();
    await field.waitFor();
    await page.reload();
    await page.getByText(email).waitFor();
    const refused = page.getByText(/^This code does not sign you in:.* ask for a new code\.$/);
    for (let tries = 0; tries < 5; tries += 1) {
      await tryCode(page, otherThan(code));
      await refused.waitFor();
    }
    await inspect(page, "dashboard-code-wrong", mistyped);
    await tryCode(page, code);
    await refused.waitFor();
    assert.equal(await countSessions(there, email), 0, "not even the right one");
    const newCode = await codeAfter(there, email, () => button(page, "Send a new code").click());
    await page.getByText("Older ones no longer work.").waitFor();
    await refused.waitFor({ state: "detached" });
    await field.fill(newCode);
    await arrival(page);
    assert.equal(page.url(), urlOf(there, "/requests?status=PENDING"));
    await page.goBack();
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  },
);

/** Tried once: the answer of the last try is not taken for this one's. */
async function tryCode(page: Page, code: string): Promise<void> {
  const answered = page.waitForResponse(/\/sign-in\/code\/verify$/);
  const field = page.getByLabel("Six-digit code");
  await field.fill("");
  await field.fill(code);
  await answered;
}

function otherThan(code: string): string {
  return code.startsWith("1") ? `2${code.slice(1)}` : `1${code.slice(1)}`;
}

const firefox = "Mozilla/5.0 (Windows NT 10.0; rv:130.0) Gecko/20100101 Firefox/130.0";
const thrownOut = { mayFail: ["401 /app/api/"] } as const;

journey(
  "a session that is ended elsewhere is over at its next call, and signing in leads back to its place",
  thrownOut,
  async (there) => {
    const email = await makePerson(there, "viewer");
    const here = await enterByLink(there, email);
    const elsewhere = await enterByLink(there, email, { userAgent: firefox });
    const place = urlOf(there, "/requests?search=refund");
    await elsewhere.goto(place);
    await elsewhere.getByRole("heading", { name: "Requests", level: 1 }).waitFor();
    await here.goto(`${there.site.url}/app/account`);
    await here.getByText("This session").waitFor();
    await button(here, "End the session of Firefox on Windows").waitFor();
    await inspect(here, "dashboard-two-sessions", thrownOut);
    await button(here, "End the session of Firefox on Windows").click();
    await goAhead(here, "End session");
    await here.getByText("Firefox on Windows").waitFor({ state: "detached" });
    assert.equal(await countSessions(there, email), 1);
    // The list looks again by itself: nobody has to press anything.
    await elsewhere.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    await signInByCode(there, elsewhere, email);
    await arrival(elsewhere);
    assert.equal(elsewhere.url(), place);
    await goTo(here, "People");
    await here.getByText(email).first().waitFor();
  },
);

const noPasskey = { mayFail: ["401 /app/api/me", "401 /app/api/sign-in/passkey/finish"] } as const;

journey("a passkey signs in without any mail, until it is removed", noPasskey, async (there) => {
  const { page, email } = await enterAs(there, "viewer");
  await useAuthenticator(page);
  const account = `${there.site.url}/app/account`;
  await page.goto(account);
  await button(page, "Add passkey").click();
  await page.getByRole("dialog").getByLabel("Name").fill("My laptop");
  await button(page, "Continue").click();
  await page.getByText("My laptop").first().waitFor();
  await inspect(page, "dashboard-account-passkey", noPasskey);
  await button(page, "Sign out").click();
  const mailsBefore = there.site.mails.length;
  await button(page, "Use a passkey").click();
  await arrival(page);
  assert.equal(there.site.mails.length, mailsBefore);
  await page.goto(account);
  await page.getByText(email).first().waitFor();
  await button(page, "Remove My laptop").click();
  await goAhead(page, "Remove passkey");
  await page.getByText("No passkeys yet.").waitFor();
  await button(page, "Sign out").click();
  await button(page, "Use a passkey").click();
  await page.getByRole("alert").waitFor();
  await inspect(page, "dashboard-passkey-removed", noPasskey);
  assert.equal(await countSessions(there, email), 0);
});

async function countSessions({ site }: Journey, email: string): Promise<number> {
  const { rows } = await site.db.query(
    `select count(*)::int as count from sessions s join people p on p.id = s.person_id
     where p.email = $1`,
    [email],
  );
  return rows[0].count;
}
