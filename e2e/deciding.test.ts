// A person decides: in two deliberate steps, about exactly what they saw, with or without changes of their own.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Journey, journeys } from "./journey.ts";
import {
  agentsWords,
  button,
  changesIn,
  choose,
  confirm,
  decide,
  editorOf,
  eventually,
  inspect,
  openEditor,
  outcomeOf,
  replaceText,
  selectWord,
  textOfEditor,
  tick,
  waits,
} from "./review-page.ts";

const journey = journeys();

/** No JavaScript value can hold it: spellings, order and digits are those of its text. */
const payload = String.raw`{"order": "1042", "amount": 120.50, "id": 9007199254740993, "rate": 1.0, "2": "b", "1": "a",
  "note": "caf\u00e9 \/ bar", "express": false, "lines": [ 1E400, -0 ]}`;

async function ask(
  { createRequest, mailedLink, visit }: Journey,
  text = payload,
): Promise<{ id: string; page: Page }> {
  const { id } = await createRequest(
    `{"summary":"Refund order 1042","agentName":"Refund bot","notify":"ann@example.com",
      "reasoning":"The parcel came back.\nThe customer wrote twice.",
      "recentActions":["Read the ticket","Looked up the order"],"payload":${text}}`.replaceAll(
      "\n",
      (at, offset, all) => (all.startsWith("\nThe customer", offset) ? "\\n" : at),
    ),
  );
  const page = await visit((await mailedLink("ann@example.com")).url);
  await agentsWords(page).getByText("Refund order 1042").waitFor();
  return { id, page };
}

/** The API's answer, to the byte. */
async function assertStored(
  { readRequestText }: Journey,
  id: string,
  members: Record<string, string>,
): Promise<void> {
  const text = await readRequestText(id);
  for (const [name, value] of Object.entries(members)) {
    assert.ok(text.includes(`"${name}":${value}`), `"${name}":${value} is not in ${text}`);
  }
}

async function assertPending({ readRequest }: Journey, id: string): Promise<void> {
  assert.equal((await readRequest(id)).status, "PENDING");
}

journey(
  "an approval takes two steps, and the agent gets its payload back byte for byte, with who approved",
  async (there) => {
    const { id, page } = await ask(there);
    await page.getByText("Waiting for you").waitFor();
    await inspect(page, "pending");
    const dialog = await choose(page, "Approve");
    await dialog.getByText("The agent will run exactly this payload.").waitFor();
    await inspect(page, "approve-second-step");
    await assertPending(there, id);
    await confirm(page, "Yes, approve");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    assert.equal(await button(page, "Approve").count(), 0);
    await assertStored(there, id, {
      status: '"APPROVED"',
      payload,
      modifiedPayload: "null",
      effectivePayload: payload,
      resolvedByEmail: '"ann@example.com"',
      resolutionNote: "null",
    });
    await inspect(page, "approved");
  },
);

journey(
  "a value edited in place changes alone, and the second step names each path, old and new",
  async (there) => {
    const { id, page } = await ask(there);
    await button(page, "Edit amount").click();
    const amount = page.getByRole("textbox", { name: "New value of amount" });
    await amount.fill("99,00");
    await page.getByText("This is not a number as JSON knows it").waitFor();
    assert.ok(await waits(button(page, "Keep")));
    assert.ok(await waits(button(page, "Approve")), "Approve waits for an open field");
    await inspect(page, "edit-in-place");
    await amount.fill("9007199254740995");
    await amount.press("Enter");
    await button(page, "Edit note").click();
    const note = page.getByRole("textbox", { name: "New value of note" });
    assert.equal(await note.inputValue(), "café / bar");
    await note.fill('said "no"\n');
    await button(page, "Keep").click();
    await button(page, "Edit express").click();
    await page.getByRole("combobox", { name: "New value of express" }).selectOption("true");
    await button(page, "Keep").click();
    await inspect(page, "edited");

    const dialog = await choose(page, "Approve with changes");
    await dialog.getByText("The agent will run this payload with your 3 changes.").waitFor();
    assert.deepEqual(await changesIn(dialog), [
      "amount before 120.50 → after 9007199254740995",
      String.raw`note before "caf\u00e9 \/ bar" → after "said \"no\"\n"`,
      "express before false → after true",
    ]);
    await inspect(page, "edited-second-step");
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).getByText("With 3 changes to what the agent sent:").waitFor();
    await inspect(page, "approved-with-changes");
    const edited = payload
      .replace("120.50", "9007199254740995")
      .replace(String.raw`"caf\u00e9 \/ bar"`, String.raw`"said \"no\"\n"`)
      .replace("false", "true");
    await assertStored(there, id, {
      status: '"APPROVED"',
      payload,
      modifiedPayload: edited,
      effectivePayload: edited,
    });
  },
);

journey(
  "an edit in the JSON editor is stored as it was typed, digit by digit, and nothing else changes",
  async (there) => {
    const { id, page } = await ask(there);
    const editor = await openEditor(page);
    await selectWord(editor, "9007199254740993");
    await page.keyboard.type("9007199254740995");
    const edited = payload.replace("9007199254740993", "9007199254740995");
    assert.equal(await textOfEditor(page), edited);
    await inspect(page, "editor");
    const dialog = await choose(page, "Approve with changes");
    assert.deepEqual(await changesIn(dialog), [
      "id before 9007199254740993 → after 9007199254740995",
    ]);
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    await assertStored(there, id, { payload, modifiedPayload: edited, effectivePayload: edited });
  },
);

journey("white space alone is no edit, however it came about", async (there) => {
  const { id, page } = await ask(there);
  const editor = await openEditor(page);
  await button(page, "Format").click();
  await editor.getByText('"rate": 1.0,').waitFor();
  await editor.press("ControlOrMeta+End");
  await page.keyboard.type("   ");
  await eventually(async () => (await textOfEditor(page)).endsWith("}   "), "the end is typed");
  assert.equal(await button(page, "Approve with changes").count(), 0);
  await decide(page, "Approve", "Yes, approve");
  await outcomeOf(page).getByText("Approved by you").waitFor();
  assert.equal(await page.getByRole("list", { name: "Changes" }).count(), 0);
  await assertStored(there, id, { modifiedPayload: "null", effectivePayload: payload });
});

const unusable = {
  null: ["null", /cannot be edited to null: null means “not edited”/],
  "a duplicate key": ['{"amount":1,"amount":1000000}', /The key amount is there twice/],
  "an escaped duplicate": ['{"a":{"b":1,"\\u0062":2}}', /The key a\.b is there twice/],
  "broken JSON": ['{\n  "amount": 1,,\n  "order": "1042"\n}', /line 2, column 15/i],
} as const;

journey(
  "an edit that cannot be executed as meant is explained where it was typed, and Approve waits until it is mended",
  async (there) => {
    const { id, page } = await ask(there);
    await openEditor(page);
    const mark = page.locator(".cm-lint-marker");
    for (const [name, [text, explanation]] of Object.entries(unusable)) {
      await button(page, "Reset").click();
      await mark.waitFor({ state: "detached" });
      await replaceText(page, text);
      await page.getByRole("status").filter({ hasText: explanation }).waitFor();
      assert.ok(await waits(button(page, "Approve")), name);
      // Pressed all the same.
      await button(page, "Approve").dispatchEvent("click");
      assert.equal(await page.getByRole("dialog").count(), 0, name);
      assert.equal(await textOfEditor(page), text);
      await mark.waitFor();
      await inspect(page, `editor-${name.replaceAll(" ", "-")}`);
    }
    await assertPending(there, id);
    await replaceText(page, "{}");
    await decide(page, "Approve with changes", "Yes, approve with changes");
    await assertStored(there, id, { modifiedPayload: "{}", effectivePayload: "{}" });
  },
);

journey("nothing typed is lost by a mistake, a change of mind or a reload", async (there) => {
  const { id, page } = await ask(there);
  const dialog = await choose(page, "Reject");
  await dialog.getByRole("textbox", { name: "Note" }).fill("Ask the warehouse first");
  await dialog.getByRole("button", { name: "Go back" }).click();
  await openEditor(page);
  const broken = '{"amount": 99.00, "order": }';
  await replaceText(page, broken);
  await page
    .getByRole("status")
    .filter({ hasText: /column 28/ })
    .waitFor();
  await page.reload();
  assert.equal(await textOfEditor(page), broken);
  assert.ok(await waits(button(page, "Approve")));
  await button(page, "Go there").click();
  await page.keyboard.type("1");
  await button(page, "Approve with changes").waitFor();
  await page.reload();
  await button(page, "Edit order").waitFor();
  await choose(page, "Approve with changes");
  const note = page.getByRole("dialog").getByRole("textbox", { name: "Note" });
  assert.equal(await note.inputValue(), "Ask the warehouse first");
  await confirm(page, "Yes, approve with changes");
  await outcomeOf(page).getByText("Ask the warehouse first").waitFor();
  await assertStored(there, id, {
    modifiedPayload: '{"amount": 99.00, "order": 1}',
    resolutionNote: '"Ask the warehouse first"',
  });
});

journey("the editor that a reload brings back stays while its text is mended", async (there) => {
  const { page } = await ask(there);
  await openEditor(page);
  await replaceText(page, '{"amount": }');
  await page
    .getByRole("status")
    .filter({ hasText: /column 12/ })
    .waitFor();
  await page.reload();
  await (await editorOf(page)).waitFor();
  await button(page, "Go there").click();
  // JSON after the first of these digits, and still being typed.
  await page.keyboard.type("120.50", { delay: 30 });
  assert.equal(await textOfEditor(page), '{"amount": 120.50}');
});

journey("Undo and Reset bring back what was there", async (there) => {
  const { page } = await ask(there);
  await openEditor(page);
  await replaceText(page, '{"all": "mine"}');
  await button(page, "Approve with changes").waitFor();
  await button(page, "Reset").click();
  await eventually(async () => (await textOfEditor(page)) === payload, "the agent's own text");
  await button(page, "Approve").waitFor();
  await button(page, "Undo").click();
  await eventually(async () => (await textOfEditor(page)) === '{"all": "mine"}', "the edit again");
});

journey("a rejection carries its note to the agent, to the character", async (there) => {
  const { id, page } = await ask(there);
  const dialog = await choose(page, "Reject");
  await dialog.getByText("The agent will be told not to do this.").waitFor();
  const note = "Not today: \u{1F469}\u200D\u{1F4BB} is away.\nשלום <b>";
  await dialog.getByRole("textbox", { name: "Note" }).fill(note);
  await inspect(page, "reject-second-step");
  await confirm(page, "Yes, reject");
  await outcomeOf(page).getByText("Rejected by you").waitFor();
  await inspect(page, "rejected");
  const { status, resolutionNote } = await there.readRequest(id);
  assert.deepEqual({ status, resolutionNote }, { status: "REJECTED", resolutionNote: note });
  await assertStored(there, id, { payload, modifiedPayload: "null" });
});

journey(
  "a note of more than 2,000 characters is refused in place, one of 2,000 is not",
  async (there) => {
    const { id, page } = await ask(there);
    const dialog = await choose(page, "Reject");
    const field = dialog.getByRole("textbox", { name: "Note" });
    const note = `${"n".repeat(1_999)}\u{1F4B8}`;
    await field.fill(`${note}!`);
    await tick(page);
    await dialog.getByText("1 character too long").waitFor();
    assert.ok(await waits(dialog.getByRole("button", { name: "Yes, reject" })));
    await inspect(page, "note-too-long");
    await assertPending(there, id);
    await field.fill(note);
    await dialog.getByText("0 characters left").waitFor();
    await confirm(page, "Yes, reject");
    await outcomeOf(page).waitFor();
    assert.equal((await there.readRequest(id)).resolutionNote, note);
  },
);

journey("Enter alone decides nothing, however often it is pressed", async (there) => {
  const { id, page } = await ask(there);
  const pressEnter = async () => {
    for (let count = 0; count < 15; count += 1) await page.keyboard.press("Enter");
  };
  await pressEnter();
  assert.equal(await page.getByRole("dialog").count(), 0);
  // Held down on the first step's own button it leads to the second step, and no further.
  const dialog = page.getByRole("dialog");
  await button(page, "Approve").focus();
  await eventually(async () => {
    await page.keyboard.press("Enter");
    return dialog.isVisible();
  }, "Enter on Approve leads to the second step");
  await pressEnter();
  // Ticked too: the tick itself has the focus, and Enter does nothing on it.
  await tick(page);
  const yes = dialog.getByRole("button", { name: "Yes, approve" });
  await eventually(async () => {
    await page.keyboard.press("Enter");
    return !(await waits(yes));
  }, "the button is no longer inert");
  await pressEnter();
  assert.ok(await dialog.isVisible());
  await assertPending(there, id);
});

/** Presses each button that decides, again and again, in the first 100 ms of its existence. */
const hastyVisitor = `
  const since = new Map();
  window.pressed = new Set();
  const press = () => {
    for (const button of document.querySelectorAll("button")) {
      if (!/^(Approve|Reject|Yes, )/.test(button.textContent)) continue;
      if (!since.has(button)) since.set(button, performance.now());
      if (performance.now() - since.get(button) > 100) continue;
      window.pressed.add(button.textContent);
      button.click();
    }
  };
  new MutationObserver(press).observe(document, { childList: true, subtree: true });
  setInterval(press, 10);
`;

journey("buttons that decide are inert in the moment in which they appear", async (there) => {
  const { id, page } = await ask(there);
  await page.addInitScript({ content: hastyVisitor });
  await page.reload();
  await button(page, "Approve").waitFor();
  const pressed = () => page.evaluate("[...pressed].sort()");
  await eventually(async () => String(await pressed()) === "Approve,Reject", "both are pressed");
  assert.equal(await page.getByRole("dialog").count(), 0);
  const dialog = await choose(page, "Approve");
  assert.deepEqual(await pressed(), ["Approve", "Reject", "Yes, approve"]);
  const yes = dialog.getByRole("button", { name: "Yes, approve" });
  await tick(page);
  await eventually(async () => !(await waits(yes)), "the button is no longer inert");
  await assertPending(there, id);
  await confirm(page, "Yes, approve");
  await outcomeOf(page).waitFor();
  assert.equal((await there.readRequest(id)).status, "APPROVED");
});

journey("a request without payload is decided by its words alone", async (there) => {
  const { id } = await there.createRequest({ summary: "Call Ann", notify: "ann@example.com" });
  const page = await there.visit((await there.mailedLink("ann@example.com")).url);
  await page.getByText("The agent sent no payload.").waitFor();
  await inspect(page, "no-payload");
  const dialog = await choose(page, "Approve");
  await dialog.getByText("The agent will do what it describes. It sent no payload.").waitFor();
  await confirm(page, "Yes, approve");
  await outcomeOf(page).waitFor();
  assert.equal((await there.readRequest(id)).effectivePayload, null);
});

journey(
  "a value that was typed but not kept holds up Approve, wherever it is, and is not lost",
  async (there) => {
    await there.createRequest({
      summary: "Refund",
      notify: "ann@example.com",
      payload: { order: { amount: 100 }, x: 1 },
    });
    const page = await there.visit((await there.mailedLink("ann@example.com")).url);
    await button(page, "Edit order.amount").click();
    await page.getByRole("textbox", { name: "New value of order.amount" }).fill("5");
    await button(page, "order, 1 field").click();
    assert.ok(await waits(button(page, "Approve")), "folded away, it still waits");
    await button(page, "JSON").click();
    assert.ok(await waits(button(page, "Approve")), "in another view, it still waits");
    await page.reload();
    await page.getByRole("button", { name: /^Typed but not kept yet: order\.amount/ }).focus();
    await page.keyboard.down("Enter");
    const field = page.getByRole("textbox", { name: "New value of order.amount" });
    assert.equal(await field.inputValue(), "5");
    const isFocused = `document.activeElement.ariaLabel === "New value of order.amount"`;
    await eventually(async () => (await page.evaluate(isFocused)) === true, "the field has focus");
    // The key is still held, and repeats.
    for (let repeats = 0; repeats < 3; repeats += 1) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    assert.equal(await field.inputValue(), "5");
    await page.keyboard.press("Enter");
    await choose(page, "Approve with changes");
  },
);

journey("no second step while a change is not listed", async (there) => {
  const values = Array.from({ length: 60 }, (_, at) => at);
  await there.createRequest({ summary: "Many", notify: "ann@example.com", payload: values });
  const page = await there.visit((await there.mailedLink("ann@example.com")).url);
  await page.clock.install();
  await page.reload();
  await openEditor(page);
  await replaceText(page, JSON.stringify(values.map((value) => value + 100)));
  const dialog = await choose(page, "Approve with changes");
  const yes = dialog.getByRole("button", { name: "Yes, approve with changes" });
  await dialog.getByRole("button", { name: "Show 10 more changes" }).waitFor();
  await tick(page);
  // Longer than the button is inert after the tick.
  await page.clock.fastForward(5_000);
  assert.ok(await waits(yes), "ten changes are out of sight");
  await dialog.getByRole("button", { name: "Show 10 more changes" }).click();
  await eventually(async () => !(await waits(yes)), "all are listed");
});
