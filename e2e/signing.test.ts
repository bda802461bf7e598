// Decisions signed with a passkey, in a real browser with a virtual authenticator: by link and in the inbox.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { makeSignInLink } from "../server/src/operations/people/sign-in.ts";
import { testKeyring } from "../server/test/test-service.ts";
import { useAuthenticator } from "./authenticator.ts";
import { open } from "./browser.ts";
import { signIn } from "./dashboard-page.ts";
import { desktop, openRow, phone, rowOf } from "./inbox-page.ts";
import { type Journey, journeys } from "./journey.ts";
import {
  button,
  choose,
  confirm,
  eventually,
  firstStep,
  inspect,
  openEditor,
  outcomeOf,
  replaceText,
  tick,
  untilApprovable,
  waits,
} from "./review-page.ts";

const journey = journeys();
const payload = '{"amount": 9007199254740993, "to": "Acme Ltd"}';

journey("somebody without a passkey is told how to get one, adds it and signs", async (there) => {
  const { site, createRequest, mailedLink, readRequest, visit } = there;
  const email = "signer@example.com";
  const { id } = await createRequest(
    `{"summary":"Pay Acme","notify":"${email}","payload":${payload},"requireSignature":true,"audience":["https://payments.example","lеdger"]}`,
  );
  const { url } = await mailedLink(email);
  const page = await visit(url, phone);
  await page.getByText("you have none here yet").waitFor();
  const validFor = page.locator("#audience");
  assert.match(await validFor.innerText(), /^Valid only for\s+https:\/\/payments\.example\n/);
  // The second name has a Cyrillic letter.
  await page.getByText("name 2 of those it is valid for").waitFor();
  assert.ok(await waits(firstStep(page, "Approve")));
  assert.ok(!(await waits(firstStep(page, "Reject"))));
  const way = page.getByRole("link", { name: "Add a passkey in your inbox" });
  assert.equal(
    await way.getAttribute("href"),
    `${new URL(site.url).pathname.replace(/\/$/, "")}/inbox/settings`,
  );
  await inspect(page, "signing-needs-passkey");

  const authenticator = await useAuthenticator(page);
  await signIn(page, site.url, await makeSignInLink(site.db, testKeyring, email));
  await open(page, `${site.url}/inbox/settings`);
  await page.getByText("No passkeys yet.").waitFor();
  await button(page, "Add passkey").click();
  await page.getByLabel("Name").fill("Test phone");
  await inspect(page, "signing-settings-add");
  await button(page, "Continue").click();
  await page.getByText("Your passkey was added.").waitFor();
  await inspect(page, "signing-settings");

  await open(page, url);
  await untilApprovable(page);
  assert.match(await page.locator("#decision").innerText(), /You’ll confirm and sign/);
  await choose(page, "Approve");
  await page.getByLabel("Note").fill("Checked with Acme");
  await page.getByText("Your passkey signs this request, your approval").waitFor();
  await inspect(page, "signing-second-step");
  // Nobody proves to be the phone's owner: nothing is lost, and nothing was sent.
  await authenticator.verify(false);
  await confirm(page, "Sign and approve");
  await page.getByText("Nothing was signed, and nothing was sent.").waitFor();
  assert.equal(await page.getByLabel("Note").inputValue(), "Checked with Acme");
  assert.equal((await readRequest(id)).status, "PENDING");
  await inspect(page, "signing-cancelled");
  await authenticator.verify(true);
  await button(page, "Sign and approve").click();
  await outcomeOf(page).waitFor();

  const request = await readRequest(id);
  assert.deepEqual([request.status, request.resolutionNote], ["APPROVED", "Checked with Acme"]);
  const { statement, amr } = await evidenceOf(there, id);
  assert.deepEqual(amr, ["mail", "passkey"]);
  const { payload: signed, effective, audience, verdict } = JSON.parse(statement);
  const digest = hash("sha256", payload, "base64url");
  assert.deepEqual([signed, effective, verdict], [digest, digest, "approve"]);
  assert.deepEqual(audience, ["https://payments.example", "lеdger"]);
});

journey(
  "a page that waits for a passkey is ready when its reader comes back with one",
  async (there) => {
    const { createRequest, mailedLink, visit, site } = there;
    const email = "returning@example.com";
    await createRequest({ summary: "Pay", notify: email, requireSignature: true });
    const { url } = await mailedLink(email);
    const waiting = await visit(url, desktop);
    await waiting.getByText("you have none here yet").waitFor();
    await inspect(waiting, "signing-needs-passkey-without-payload");
    const page = await visit("about:blank", desktop);
    await useAuthenticator(page);
    await signIn(page, site.url, await makeSignInLink(site.db, testKeyring, email));
    await open(page, `${site.url}/inbox/settings`);
    await button(page, "Add passkey").click();
    await button(page, "Continue").click();
    await page.getByText("Your passkey was added.").waitFor();
    // As a browser does when somebody returns to a tab.
    await waiting.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
    await eventually(
      async () => !(await waits(firstStep(waiting, "Approve"))),
      "Approve is possible now",
    );
    await waiting.getByText("you have none here yet").waitFor({ state: "detached" });
  },
);

journey("in the inbox an edit is signed by keyboard, where that is only offered", async (there) => {
  const { site, createRequest, readRequestText, readRequest, visit } = there;
  const email = "keys@example.com";
  const body = (summary: string, more = "") =>
    `{"summary":"${summary}","notify":"${email}","agentName":"payer","payload":${payload}${more}}`;
  const { id } = await createRequest(body("Pay Acme"));
  const needed = await createRequest(body("Pay under signature", ',"requireSignature":true'));
  const page = await visit("about:blank", desktop);
  await useAuthenticator(page);
  await signIn(page, site.url, await makeSignInLink(site.db, testKeyring, email));
  // The list of passkeys comes late, and leaves the form alone.
  const { promise: isAsked, resolve: letIn } = Promise.withResolvers<void>();
  await page.route(
    "**/me/passkeys",
    async (route) => {
      await isAsked;
      await route.continue();
    },
    { times: 1 },
  );
  await open(page, `${site.url}/inbox/settings`);
  await button(page, "Add passkey").press("Enter");
  await button(page, "Continue").waitFor();
  letIn();
  await page.getByText("No passkeys yet.").waitFor();
  await button(page, "Continue").press("Enter");
  await page.getByText("Your passkey was added.").waitFor();

  await open(page, `${site.url}/inbox`);
  await openRow(page, "Pay Acme");
  await openEditor(page);
  const edited = '{"amount": 7, "to": "Acme Ltd"}';
  await replaceText(page, edited);
  await button(page, "Readable").click();
  await untilApprovable(page);
  await choose(page, "Approve with changes");
  const dialog = page.locator("dialog");
  const offer = dialog.getByRole("checkbox", { name: "Sign with your passkey" });
  assert.ok(!(await offer.isChecked()), "it is only offered");
  await button(page, "Yes, approve with changes").waitFor();
  await inspect(page, "signing-offered");
  await offer.press("Space");
  await tick(page);
  const yes = dialog.getByRole("button", { name: "Sign and approve with changes" });
  await eventually(async () => !(await waits(yes)), "the button is no longer inert");
  await yes.press("Enter");
  await outcomeOf(page).waitFor();
  assert.ok((await readRequestText(id)).includes(`"modifiedPayload":${edited}`));
  const { statement, amr } = await evidenceOf(there, id);
  assert.deepEqual(amr, ["session", "passkey"]);
  assert.equal(JSON.parse(statement).effective, hash("sha256", edited, "base64url"));

  await open(page, `${site.url}/inbox`);
  await openRow(page, "Pay under signature");
  await untilApprovable(page);
  await button(page, "Select").click();
  const box = rowOf(page, "Pay under signature").getByRole("checkbox");
  await page.getByText("Needs your passkey: sign it on its own").waitFor();
  assert.ok(await box.isDisabled());
  await button(page, "Done").click();
  await choose(page, "Reject");
  await confirm(page, "Yes, reject");
  await outcomeOf(page).waitFor();
  assert.equal((await readRequest(needed.id)).status, "REJECTED");
});

async function evidenceOf({ site }: Journey, id: string) {
  const { rows } = await site.db.query<{ statement: string; amr: string[] }>(
    "select statement, amr from evidence where approval_id = $1",
    [id],
  );
  assert.equal(rows.length, 1);
  return rows[0] as { statement: string; amr: string[] };
}
