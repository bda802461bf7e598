// Tricks with marks on letters, with keys, with hidden characters and with names. Data only.

import type { Trick } from "./trick.ts";

export const markTricks: readonly Trick[] = [
  {
    line: 5,
    name: "marks piled on a letter",
    payload: { v: `a${"\u0300\u0301\u0302\u0303\u0304\u0305".repeat(3)}` },
    tells: /^18 marks on one letter \(grave accent, .* and 2 more\), in v$/,
  },
  {
    line: 5,
    name: "an amount that is struck through",
    payload: { amount: "1\u03360\u03360\u0336" },
    tells: "100 is struck through, but still counts, in amount",
  },
  {
    line: 5,
    name: "a word crossed out letter by letter",
    summary: "Do n\u0338o\u0338t\u0338 pay",
    tells: /^not is struck through/,
  },
  {
    line: 5,
    name: "a letter in a circle",
    payload: { v: "a\u20DD" },
    tells: /^a has something drawn around it, in v$/,
  },
  {
    line: 5,
    name: "a mark without a letter",
    payload: { v: "\u0336100" },
    tells: /is struck through|on one letter/,
  },
  {
    line: 5,
    name: "two keys with the same look",
    payload: { amount: 1, "am\u043Eunt": 2 },
    tells: /^Two names that look alike: amount and am.unt/,
  },
  {
    line: 5,
    name: "a key with a foreign digit",
    payload: { line1: 1, "line\u09E7": 2 },
    tells: /^Two names that look alike: line1 and line/,
  },
  {
    line: 5,
    name: "two keys that differ by a space and an underscore",
    payload: { user_id: 1, "user id": 2 },
    tells: /^Two names that look alike: user_id and user id/,
  },
  {
    line: 5,
    name: "a look-alike in a key",
    payload: { "\u0430mount": 1 },
    tells: /only looks like amount: one letter is Cyrillic, in the name of /,
  },

  // 6. Hidden characters where they do not belong
  {
    line: 6,
    name: "a zero-width space in a name",
    payload: { host: "pay\u200Bpal.com" },
    tells: "1 hidden character in host",
  },
  {
    line: 6,
    name: "a joiner between Latin letters",
    payload: { v: "pay\u200Dpal" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "a non-joiner between Latin letters",
    payload: { v: "pay\u200Cpal" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "a soft hyphen in a name",
    payload: { v: "pay\u00ADpal" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "a soft hyphen in a host in prose",
    summary: "Send it to pay\u00ADpal.com now",
    tells: "1 hidden character in the summary",
  },
  {
    line: 6,
    name: "a run of no-break spaces",
    payload: { v: "a\u00A0\u00A0\u00A0b" },
    tells: "3 hidden characters in v",
  },
  {
    line: 6,
    name: "a no-break space at an edge",
    payload: { v: "ann\u00A0" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "a no-break space before a dot",
    payload: { v: "paypal.com\u00A0.evil.com" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "a wide space in Latin text",
    payload: { v: "a\u3000b" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "a byte order mark inside",
    payload: { v: "a\uFEFFb" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "a carriage return alone",
    payload: { v: "keep this\rdrop it" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "selectors that smuggle data",
    payload: { v: "ok\uFE01\uFE02\u{E0101}" },
    tells: "3 hidden characters in v",
  },
  {
    line: 6,
    name: "letters of tags",
    summary: "Pay\u{E0041}\u{E0042}",
    tells: "2 hidden characters in the summary",
  },
  {
    line: 6,
    name: "a filler that takes no room",
    payload: { v: "\u3164" },
    tells: "1 hidden character in v",
  },
  {
    line: 6,
    name: "empty lines of Windows",
    payload: { v: `a${"\r\n".repeat(60)}b` },
    tells: "A long stretch of white space in v",
  },
  {
    line: 6,
    name: "padding with spaces",
    payload: { v: `a${" ".repeat(400)}b` },
    tells: "A long stretch of white space in v",
  },
  {
    line: 6,
    name: "a space at the edge of a key",
    payload: { "to ": 1 },
    tells: /^White space at the edge of the name of .* \(1 space\)$/,
  },
  {
    line: 6,
    name: "a byte order mark before a value",
    payload: { role: "\uFEFFadmin" },
    tells: "1 hidden character in role",
  },
  {
    line: 6,
    name: "a byte order mark before a key",
    payload: { "\uFEFFamount": 5 },
    tells: /^1 hidden character in the name of /,
  },
  {
    line: 6,
    name: "a hair space in a host",
    payload: { url: "https://pay\u200Apal.com/x" },
    tells: "1 hidden character in url",
  },
  {
    line: 6,
    name: "a no-break space in a host",
    payload: { url: "https://pay\u00A0pal.com/x" },
    tells: "1 hidden character in url",
  },
  {
    line: 6,
    name: "a hair space in an account",
    payload: { iban: "DE89\u200A370400440532013000" },
    tells: "1 hidden character in iban",
  },
  {
    line: 6,
    name: "a narrow space in an account",
    payload: { iban: "DE89\u202F370400440532013000" },
    tells: "1 hidden character in iban",
  },
  {
    line: 6,
    name: "a hair space in an amount",
    payload: { amount: "1\u200A000" },
    tells: "1 hidden character in amount",
  },
  {
    line: 6,
    name: "a no-break space for an underscore",
    payload: { column: "user\u00A0id" },
    tells: "1 hidden character in column",
  },
  {
    line: 6,
    name: "a no-break space in a command",
    payload: { run: "sudo rm\u00A0-rf /srv" },
    tells: "1 hidden character in run",
  },
  {
    line: 6,
    name: "a no-break space in a key",
    payload: { "user\u00A0id": 5 },
    tells: /^1 hidden character in the name of /,
  },

  // 7. Names that imitate
  {
    line: 7,
    name: "our own name",
    agentName: "Countersign",
    tells: "The agent’s name looks like our own: Countersign",
  },
  {
    line: 7,
    name: "our own name in a longer one",
    agentName: "Countersign Security",
    tells: /looks like our own/,
  },
  {
    line: 7,
    name: "our own name with digits",
    agentName: "C0unters1gn",
    tells: /looks like our own/,
  },
  {
    line: 7,
    name: "our own name with a foreign letter",
    agentName: "C\u043Euntersign",
    tells: /looks like our own/,
  },
  {
    line: 7,
    name: "the approver's address",
    agentName: "ann@example.com",
    tells: /holds your own address/,
  },
  {
    line: 7,
    name: "the workspace's name",
    agentName: "ACME Shop",
    tells: /looks like your workspace’s/,
  },
];
