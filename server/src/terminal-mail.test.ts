import assert from "node:assert/strict";
import { test } from "node:test";
import type { ComposedMail } from "./operations/deliveries/composed-mail.ts";
import { makeTerminalMail } from "./terminal-mail.ts";
import { welcome } from "./welcome.ts";

const mail: ComposedMail = {
  to: "ann@example.com",
  subject: "Review requested: Pay invoice 4711",
  text: "words",
  html: "<p>words</p>",
  messageId: "<rev_1.review@localhost>",
  references: null,
  date: new Date("2026-11-15T16:11:42Z"),
  reviewUrl: "http://localhost:3000/review/Zk3vYJq0b2mE7xWc9TtR1uHsNfPdLg5oAaQyBiKjUvM",
  reviewCode: null,
  reviewCodes: [],
};

function startTerminal() {
  const written: string[] = [];
  const clock = { ms: 1_000 };
  const tell = makeTerminalMail(
    (text) => void written.push(text),
    () => clock.ms,
  );
  return { written, clock, tell };
}

test("a kept mail shows who gets it, its subject and its link, each on a line of its own", () => {
  const { written, tell } = startTerminal();
  tell(mail);
  assert.equal(
    written.join(""),
    `
  Mail to   ann@example.com
  Subject   Review requested: Pay invoice 4711
  Review    ${mail.reviewUrl}

`,
  );
});

test("where the link asks for a code, the code stands beside it as the mail prints it", () => {
  const { written, tell } = startTerminal();
  tell({ ...mail, reviewCode: "BCDFGH" });
  assert.ok(written.join("").endsWith(`  Review    ${mail.reviewUrl}\n  Code      BCD-FGH\n\n`));
});

test("a notice has no link, and so no line for one", () => {
  const { written, tell } = startTerminal();
  tell({ ...mail, reviewUrl: null });
  assert.doesNotMatch(written.join(""), /Review {2}/);
});

test("what it shows stands below what the welcome shows", () => {
  const { written, tell } = startTerminal();
  tell(mail);
  const greeting = welcome({
    address: "http://localhost:3000",
    firstKey: null,
    signInUrl: null,
    isEmpty: false,
    isTrial: true,
    kind: "embedded",
    dataDir: "/data",
    isMailShown: true,
  });
  const column = / {2}Address +/.exec(greeting)?.[0].length;
  assert.equal(/ {2}Mail to +/.exec(written.join(""))?.[0].length, column);
});

test("of many at once a few are shown, then one line says where all of them are", () => {
  const { written, tell } = startTerminal();
  for (let n = 0; n < 500; n += 1) tell(mail);
  assert.equal(written.filter((text) => text.includes("Mail to")).length, 5);
  assert.equal(written.length, 6);
  assert.match(written[5] ?? "", /^ {2}Mail {6}more than fit here: .*\/dev\/mail\n$/);
});

test("hundreds a second for a minute are a line every ten seconds", () => {
  const { written, clock, tell } = startTerminal();
  for (let n = 0; n < 60 * 300; n += 1) {
    tell(mail);
    clock.ms += 1_000 / 300;
  }
  assert.ok(written.length <= 6 + 6, `${written.length} texts`);
  assert.match(written[6] ?? "", /^ {2}Mail {6}29\d\d more were kept: see \/dev\/mail\n$/);
});

test("once it is calm, mails are shown again, and none was left uncounted", () => {
  const { written, clock, tell } = startTerminal();
  for (let n = 0; n < 10; n += 1) tell(mail);
  clock.ms += 60_000;
  written.length = 0;
  tell(mail);
  assert.match(written[0] ?? "", /5 more were kept/);
  assert.match(written[1] ?? "", /Mail to/);
  clock.ms += 15_000;
  written.length = 0;
  tell(mail);
  assert.equal(written.length, 1);
});
