// Tricks that an agent may try with its words, each with what the page must tell about it. Data only: a unit test and a
// journey run it.

import { storedOrder, type Trick } from "./trick.ts";
import { hostTricks } from "./tricks-with-hosts.ts";
import { letterTricks } from "./tricks-with-letters.ts";
import { markTricks } from "./tricks-with-marks.ts";

export const tricks: readonly Trick[] = [
  // 1. Folding
  {
    line: 1,
    name: "a command behind a long text",
    payload: { query: `${"select 1; ".repeat(400)}DROP TABLE users` },
    tells: /Show the other 2,0[0-9]{2} characters/,
  },
  {
    line: 1,
    name: "an amount behind hundreds of others",
    payload: { rows: Array.from({ length: 300 }, (_, at) => at), amount: 1_000_000 },
    tells: /[0-9]+ values not opened yet/,
  },
  {
    line: 1,
    name: "an account in one of many orders",
    payload: Array.from({ length: 200 }, (_, at) => ({
      order: at,
      to: at === 199 ? "evil" : "ann",
    })),
    tells: /[0-9]+ values not opened yet/,
  },
  // 3. Room
  {
    line: 3,
    name: "a reasoning that pushes the payload away",
    reasoning: "All of this was checked.\n".repeat(70),
    payload: { amount: 1 },
    tells: /Show [0-9]+ more lines/,
  },
  {
    line: 3,
    name: "a summary that fills the screen",
    summary: "Everything is fine.\n".repeat(25).slice(0, 500),
    payload: { amount: 1 },
    tells: /Show [0-9]+ more lines/,
  },
  {
    line: 5,
    name: "a host behind a name and a password",
    payload: { url: "https://ann:secret@google.com@evil.com/pay" },
    tells: /goes to evil\.com/,
  },
  {
    line: 5,
    name: "a password that poses as the host",
    payload: { url: "https://ann:google.com@evil.com/pay" },
    tells: /goes to evil\.com/,
  },
  // 8. Figures
  {
    line: 8,
    name: "a number with a zero too many",
    payload: { amount: 12_480_000 },
    tells: "12,480,000",
  },
  {
    line: 8,
    name: "an amount as text",
    payload: { amount: "1248000.00" },
    tells: "1,248,000.00",
  },
  {
    line: 8,
    name: "a number longer than a program can count",
    payload: { amount: "123456789012345678901" },
    tells: "123,456,789,012,345,678,901",
  },
  // 4. Order
  {
    line: 4,
    name: "Hebrew letters between two amounts",
    payload: { v: "100 א 250" },
    tells: storedOrder,
  },
  {
    line: 4,
    name: "Arabic letters in a path",
    payload: { v: "/srv/شراء/../etc" },
    tells: storedOrder,
  },
  {
    line: 4,
    name: "a Hebrew file name with a Latin ending",
    payload: { v: "חשבון.exe" },
    tells: storedOrder,
  },
  {
    line: 4,
    name: "Arabic digits around a word",
    payload: { v: "١٢ شراء ٣٤" },
    tells: storedOrder,
  },
  {
    line: 4,
    name: "an account between Hebrew names",
    payload: { v: "אבי > 12-34 > דנה" },
    tells: storedOrder,
  },
  {
    line: 4,
    name: "Adlam letters beside digits",
    payload: { v: "7 \u{1E900}\u{1E901} 9" },
    tells: storedOrder,
  },
  {
    line: 4,
    name: "an override that turns a file name",
    payload: { file: "invoice_\u202Efdp.exe" },
    tells: "1 hidden character turns the text around in file",
  },
  {
    line: 4,
    name: "isolates around an amount",
    payload: { amount: "\u2067100\u2069 200" },
    tells: "2 hidden characters turn the text around in amount",
  },
  {
    line: 4,
    name: "a right-to-left mark far from such letters",
    summary: "Pay 100\u200F 250",
    tells: "1 hidden character turns the text around in the summary",
  },

  ...letterTricks,
  ...hostTricks,
  ...markTricks,
];
