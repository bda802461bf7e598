// What journeys do at the dashboard, as a person does it.

import assert from "node:assert/strict";
import type { BrowserContextOptions, Page } from "playwright-core";
import { makeMember } from "../server/test/test-dashboard.ts";
import { until } from "../server/test/test-worker.ts";
import type { Journey } from "./journey.ts";

type Role = "owner" | "admin" | "viewer";

let people = 0;

/** Makes somebody a member and signs them in with the code of a real mail. */
export async function enterAs(
  there: Journey,
  role: Role,
  options?: BrowserContextOptions,
): Promise<{ page: Page; email: string }> {
  people += 1;
  const email = `${role}-${people}@example.com`;
  await makeMember(there.site.db, { workspaceId: there.workspace.id, email, role });
  const page = await there.visit(`${there.site.url}/app`, options);
  await signInByCode(there, page, email);
  await page.getByRole("navigation", { name: "Workspace" }).waitFor();
  return { page, email };
}

export async function signInByCode({ site }: Journey, page: Page, email: string): Promise<void> {
  const mailsBefore = codesTo(site.mails, email).length;
  await page.getByLabel("Your e-mail address").fill(email);
  await page.getByRole("button", { name: "Mail me a code" }).click();
  const code = await until(
    () => codesTo(site.mails, email)[mailsBefore] ?? null,
    `the code for ${email}`,
  );
  await page.getByLabel("Six-digit code").fill(code);
}

function codesTo(mails: Journey["site"]["mails"], email: string): string[] {
  return mails
    .filter(({ recipients }) => recipients.includes(email))
    .map(({ headers }) => /code is ([0-9]{3}) ([0-9]{3})/.exec(headers.get("subject") ?? ""))
    .filter((found) => found !== null)
    .map(([, first, second]) => `${first}${second}`);
}

/** Goes to a place by the rail. */
export async function goTo(page: Page, place: string): Promise<void> {
  const rail = page.getByRole("navigation", { name: "Workspace" });
  await rail.getByRole("link", { name: place, exact: true }).click();
  await page.locator("main h1").first().waitFor();
}

/** The text of a box that can be copied. */
export async function copyBox(page: Page, label: string): Promise<string> {
  const head = page.locator(".copy-label", { hasText: label });
  const box = page.locator(".copy-box", { has: head });
  const text = await box.locator("code").textContent();
  assert.ok(text, `nothing to copy in ${label}`);
  return text;
}
