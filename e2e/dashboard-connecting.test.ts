// A journey of a person whose desktop app wants to use Countersign: from the app through the sign-in to the question, and
// back to the app with a code.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { arrival, atTheDoor, makePerson, signInByCode } from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { inspect } from "./review-page.ts";

const journey = journeys();

/** Waits for the answer on the person's own machine, as desktop apps do. */
const app = createServer((_request, response) => response.end("Back in the app"));
await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
after(() => app.close());
const appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
/** Long, and with another's host in its path. */
const redirectUri = `${appUrl}/https://claude.ai/${"callback/".repeat(20)}`;
const toTheApp = { ...atTheDoor, mayVisit: appUrl };

journey(
  "an app is connected by its person alone, who sees its name and where the answer goes",
  toTheApp,
  async (there) => {
    const { site, visit } = there;
    const register = async (name: string): Promise<string> => {
      const body = JSON.stringify({ client_name: name, redirect_uris: [redirectUri] });
      const registered = await fetch(`${site.url}/oauth/register`, { method: "POST", body });
      return JSON.parse(await registered.text()).client_id;
    };
    const client_id = await register("Claude\u200b Desk\u0442op");
    const verifier = "v".repeat(43);
    const question = new URLSearchParams({
      client_id,
      redirect_uri: redirectUri,
      response_type: "code",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state: "from the app",
    });

    const email = await makePerson(there, "admin");
    const page = await visit(`${site.url}/app/connect?${question}`);
    await signInByCode(there, page, email);
    await arrival(page);
    const name = page.locator(".connect-name");
    await name.waitFor();
    assert.match(await name.innerText(), /U\+200B|zero.width/i);
    const facts = page.locator(".connect-facts");
    assert.match(await facts.innerText(), /program on this computer/);
    const address = facts.locator(".redirect-address");
    assert.equal(await address.textContent(), redirectUri, "the whole address");
    assert.equal(await address.locator("strong").textContent(), new URL(appUrl).host);
    const connect = page.getByRole("button", { name: "Connect", exact: true });
    assert.ok(await connect.isDisabled(), "a press alone connects nothing");
    await inspect(page, "dashboard-connect", toTheApp);
    await page.getByRole("checkbox").check();
    await connect.click();
    await page.getByText("Back in the app").waitFor();
    const answer = new URL(page.url());
    assert.equal(`${answer.origin}${answer.pathname}`, redirectUri);
    assert.equal(answer.searchParams.get("state"), "from the app");
    const tokens = await fetch(`${site.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: answer.searchParams.get("code") ?? "",
        client_id,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }),
    });
    assert.equal(tokens.status, 200);

    await page.goto(`${site.url}/app/w/${there.workspace.id}/keys`);
    const row = page.getByRole("row", { name: /Connected app, by/ });
    await row.waitFor();
    assert.match(await row.innerText(), new RegExp(email));
    await inspect(page, "dashboard-connected-app", toTheApp);
    await row.getByRole("button", { name: /^Revoke/ }).waitFor();

    const imitating = await register("C\u043euntersign Sup\u0440ort");
    const other = new URLSearchParams({ ...Object.fromEntries(question), client_id: imitating });
    await page.goto(`${site.url}/app/connect?${other}`);
    await page.getByText("This name looks like Countersign").waitFor();

    question.set("code_challenge_method", "plain");
    await page.goto(`${site.url}/app/connect?${question}`);
    await page.getByRole("button", { name: "Back to the app" }).waitFor();
    assert.equal(await address.textContent(), redirectUri, "where the way back leads");
    await inspect(page, "dashboard-connect-bad", toTheApp);
  },
);
