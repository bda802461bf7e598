// Tricks that an agent may try with its words, each with what the page must tell about it, and honest texts about which
// it must tell nothing. Data only: a unit test and a journey run it.

export type Trick = {
  /** What it plays with: folding, room, order, letters and digits, hidden characters, names, figures. */
  line: 1 | 3 | 4 | 5 | 6 | 7 | 8;
  name: string;
  summary?: string;
  reasoning?: string;
  agentName?: string;
  payload?: unknown;
  /** What the page says: the name of a button in its list of warnings, or for line 4 what stands behind the value. */
  tells: string | RegExp;
};

/** What the page says behind a value whose parts could have been moved. */
export const storedOrder = "right-to-left text, in stored order";

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

  // 5. Letters and digits
  {
    line: 5,
    name: "a Cyrillic letter in a Latin name",
    payload: { payee: "p\u0430ypal" },
    tells: "p\u0430ypal only looks like paypal: one letter is Cyrillic, in payee",
  },
  {
    line: 5,
    name: "a Greek omicron in a Latin name",
    summary: "Refund Tesc\u03BF",
    tells: "Tesc\u03BF only looks like Tesco: one letter is Greek, in the summary",
  },
  {
    line: 5,
    name: "a Cherokee letter",
    payload: { payee: "\u13E2aypal" },
    tells: /only looks like Paypal: one letter is Cherokee, in payee$/,
  },
  {
    line: 5,
    name: "Armenian letters",
    payload: { payee: "g\u0585\u0585gle" },
    tells: /only looks like google: 2 letters are Armenian, in payee$/,
  },
  {
    line: 5,
    name: "Hebrew letters inside a Latin word",
    payload: { payee: "g\u05E1\u05E1gle" },
    tells: /only looks like google: 2 letters are Hebrew, in payee$/,
  },
  {
    line: 5,
    name: "a Hebrew letter at the end of a Latin word",
    payload: { payee: "paypa\u05D5" },
    tells: /only looks like paypal: one letter is Hebrew, in payee$/,
  },
  {
    line: 5,
    name: "a symbol of APL for a letter",
    payload: { payee: "p\u237Aypal" },
    tells: /only looks like paypal: /,
  },
  {
    line: 5,
    name: "phonetic letters",
    payload: { payee: "p\u0251yp\u0251l" },
    tells: /only looks like paypal: 2 letters are rare Latin, in payee$/,
  },
  {
    line: 5,
    name: "small capitals",
    payload: { payee: "\u1D18\u1D00\u028F\u1D18\u1D00\u029F" },
    tells: /only looks like paypal: 6 letters are rare Latin/,
  },
  {
    line: 5,
    name: "a whole word in Cyrillic",
    payload: { action: "\u0441\u043E\u0440\u0443" },
    tells: /only looks like copy: 4 letters are Cyrillic, in action$/,
  },
  {
    line: 5,
    name: "a whole word in Lisu",
    payload: { action: "\uA4D1\uA4EE\uA4EC" },
    tells: /only looks like PAY: 3 letters are Lisu/,
  },
  {
    line: 5,
    name: "a look-alike in a Russian sentence",
    summary: "Перевести деньги на p\u0430ypal сегодня",
    tells: /only looks like paypal: one letter is Cyrillic, in the summary$/,
  },
  {
    line: 5,
    name: "a word in two foreign alphabets",
    payload: { payee: "\u0436\u03BB\u0431" },
    tells: /mixes Cyrillic and Greek letters, in payee$/,
  },
  {
    line: 5,
    name: "mathematical letters",
    payload: { payee: "\u{1D429}\u{1D41A}\u{1D432}\u{1D429}\u{1D41A}\u{1D425}" },
    tells: /only looks like paypal: it has special letter forms, in payee$/,
  },
  {
    line: 5,
    name: "wide letters",
    payload: { payee: "ｐａｙｐａｌ" },
    tells: /only looks like paypal: /,
  },
  {
    line: 5,
    name: "wide letters among plain ones in Japanese",
    payload: { payee: "日本の pａypal" },
    tells: /only looks like paypal: /,
  },
  {
    line: 5,
    name: "a Roman numeral for a letter",
    payload: { payee: "PAYPA\u216C" },
    tells: /only looks like PAYPAL/,
  },
  {
    line: 5,
    name: "the sign of Kelvin for a letter",
    payload: { payee: "\u212AEY" },
    tells: /only looks like KEY/,
  },
  {
    line: 5,
    name: "a Bengali four that looks like an eight",
    payload: { amount: "৪" },
    tells: "৪ means 4, in Bengali digits, in amount",
  },
  {
    line: 5,
    name: "Bengali digits in an amount of several parts",
    payload: { amount: "১,২৫০.০০" },
    tells: /means 1,250\.00, in Bengali digits/,
  },
  {
    line: 5,
    name: "one foreign digit among plain ones",
    payload: { amount: "1০০" },
    tells: /means 100, in Bengali digits/,
  },
  {
    line: 5,
    name: "Arabic digits in an English sentence",
    summary: "Pay ١٠٠ EUR",
    tells: "١٠٠ means 100, in Arabic digits, in the summary",
  },
  {
    line: 5,
    name: "mixed digits in a Bengali sentence",
    summary: "আমি 1০০ টাকা দেব",
    tells: /means 100, in Bengali/,
  },
  {
    line: 5,
    name: "mathematical digits",
    payload: { amount: "\u{1D7D7}\u{1D7D8}" },
    tells: /only looks like 90/,
  },
  {
    line: 5,
    name: "the letter O in an amount",
    payload: { amount: "1O0.00" },
    tells: "1O0.00 has the letter O among its digits. It reads like 100.00, in amount",
  },
  {
    line: 5,
    name: "the letter l for a one",
    payload: { amount: "l00.00" },
    tells: /has the letter l among its digits/,
  },
  {
    line: 5,
    name: "letters for all zeros",
    payload: { amount: "5,OOO" },
    tells: /has the letter O among its digits/,
  },
  {
    line: 5,
    name: "a letter in an amount with its currency",
    summary: "Pay $1O0 now",
    tells: /has the letter O/,
  },
  {
    line: 5,
    name: "a letter in a date",
    payload: { due: "2O26-01-01" },
    tells: /reads like 2026-01-01, in due$/,
  },
  {
    line: 5,
    name: "a Cyrillic letter in an amount",
    payload: { amount: "1\u041E0" },
    tells: /only looks like 100: one letter is Cyrillic, in amount$/,
  },
  {
    line: 5,
    name: "Cyrillic letters for zeros in a Russian sentence",
    summary: "Заплатить 5,\u041E\u041E\u041E рублей",
    tells: /only looks like 5,000: 3 letters are Cyrillic/,
  },
  {
    line: 5,
    name: "Burmese letters for the zeros of an amount",
    payload: { amount: "5ဝဝ" },
    tells: /only looks like 500: 2 letters are Myanmar, in amount$/,
  },
  {
    line: 5,
    name: "a Burmese letter for the last zero in a sentence",
    summary: "pay 50ဝ EUR",
    tells: /only looks like 500: one letter is Myanmar, in the summary$/,
  },
  {
    line: 5,
    name: "Malayalam letters for zeros",
    payload: { amount: "1ഠഠ" },
    tells: /only looks like 100: /,
  },
  {
    line: 5,
    name: "an Odia letter for a zero",
    payload: { amount: "10ଠ" },
    tells: /only looks like 100: /,
  },
  {
    line: 5,
    name: "Ethiopic letters for zeros",
    payload: { amount: "9ዐዐ" },
    tells: /only looks like 900: /,
  },
  {
    line: 5,
    name: "a Hebrew letter for a zero",
    payload: { amount: "10ס" },
    tells: /only looks like 100: /,
  },
  {
    line: 5,
    name: "a comma that is none",
    payload: { amount: "1\u201A000" },
    tells: /only looks like ,, in amount$/,
  },
  {
    line: 5,
    name: "a host in Cyrillic",
    payload: { url: "https://\u0430\u0440\u0440\u04CF\u0435.com/login" },
    tells: /only looks like apple\.com\. It goes to xn--80ak6aa92e\.com, in url$/,
  },
  {
    line: 5,
    name: "a host in Cyrillic without a scheme",
    payload: { host: "\u0440\u0430\u0443\u0440\u0430l.com" },
    tells: /only looks like paypal\.com\. It goes to xn--l-7sba6dbr\.com, in host$/,
  },
  {
    line: 5,
    name: "a foreign top-level domain",
    payload: { host: "google.\u0441\u043E\u043C" },
    tells: /goes to google\.xn--l1adi/,
  },
  {
    line: 5,
    name: "a host in the form of the wire",
    payload: { host: "xn--80ak6aa92e.com" },
    tells: "xn--80ak6aa92e.com is made to look like apple.com, in host",
  },
  {
    line: 5,
    name: "a mailbox at such a host",
    payload: { to: "ann@\u0430pple.com" },
    tells: /goes to xn--pple-43d\.com, in to$/,
  },
  {
    line: 5,
    name: "a host as a user name",
    payload: { url: "https://google.com@evil.com/login" },
    tells: "google.com@ isn’t the site. The address goes to evil.com, in url",
  },
  {
    line: 5,
    name: "a host and a port as user name and password",
    payload: { url: "https://google.com:443@evil.com" },
    tells: /goes to evil\.com/,
  },
  {
    line: 5,
    name: "a path in a user name",
    payload: { url: "https://google.com\u2215login@evil.com" },
    tells: /goes to evil\.com/,
  },
  {
    line: 5,
    name: "escapes in a user name",
    payload: { url: "https://google%2Ecom@evil.com" },
    tells: /goes to evil\.com/,
  },
  {
    line: 5,
    name: "backslashes for slashes",
    payload: { url: "https:\\\\evil.com" },
    tells: "An address with odd slashes goes to evil.com, in url",
  },
  {
    line: 5,
    name: "one slash",
    payload: { url: "https:/evil.com" },
    tells: /odd slashes goes to evil\.com/,
  },
  {
    line: 5,
    name: "no slash",
    payload: { url: "https:evil.com" },
    tells: /odd slashes goes to evil\.com/,
  },
  {
    line: 5,
    name: "four slashes",
    payload: { url: "https:////evil.com" },
    tells: /odd slashes goes to evil\.com/,
  },
  {
    line: 5,
    name: "a backslash before the @",
    payload: { url: "https://evil.com\\@google.com" },
    tells: "A backslash in an address works as a slash, in url",
  },
  {
    line: 5,
    name: "slashes that are none",
    payload: { url: "https:\u2215\u2215evil.com" },
    tells: /only looks like \/\/, in url$/,
  },
  {
    line: 5,
    name: "a colon that is none",
    payload: { url: "https\uA789//evil.com" },
    tells: /only looks like :, in url$/,
  },
  {
    line: 5,
    name: "a dot that is none",
    payload: { host: "paypal\u2024com" },
    tells: /only looks like \., in host$/,
  },
  {
    line: 5,
    name: "a slash in a path that is none",
    payload: { path: "/etc\u2215passwd" },
    tells: /only looks like \/, in path$/,
  },
  {
    line: 5,
    name: "a host that ends in a sign like a slash",
    payload: { url: "https://google.com\u2044x.evil.com" },
    tells: /It goes to google\.xn--comx-2g7a\.evil\.com/,
  },
  {
    line: 5,
    name: "a host as one number",
    payload: { url: "http://3232235777/" },
    tells: /is the network address 192\.168\.1\.1, in url$/,
  },
  {
    line: 5,
    name: "a host in hexadecimal",
    payload: { url: "http://0x7f.1/" },
    tells: /is the network address 127\.0\.0\.1, in url$/,
  },
  {
    line: 5,
    name: "wide letters in a host",
    payload: { url: "https://ｇｏｏｇｌｅ.com" },
    tells: /goes to google\.com, in url$/,
  },
  {
    line: 5,
    name: "a line break before the real host",
    payload: { url: "https://bank.example\n@evil.com/pay" },
    tells: "An address with a tab or line break in it goes to evil.com, in url",
  },
  {
    line: 5,
    name: "a tab in a host",
    payload: { url: "https://bank.example\t.evil.com/pay" },
    tells: /goes to bank\.example\.evil\.com, in url$/,
  },
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

/** Ordinary words in many languages and of many kinds. None of them may raise a warning, as a value or as prose. */
export const honestTexts: readonly { name: string; text: string }[] = [
  {
    name: "French",
    text: "Bonjour\u00A0! Voulez-vous rembourser 1\u202F250,50\u00A0€ à «\u00A0Müller\u00A0»\u00A0? L’été, 20\u00A0%\u00A0: oui.",
  },
  {
    name: "Persian",
    text: "می\u200Cخواهم ۱۲۵٬۰۰۰ ریال به حساب شرکت\u200Cها واریز کنم؛ لطفاً تأیید کنید.",
  },
  { name: "Sinhala", text: "ශ්\u200Dරී ලංකාව සඳහා රුපියල් 5,000 ක් ගෙවන්න." },
  { name: "Malayalam", text: "ഞാന്\u200D നാളെ പണം അയയ്ക്കും, അവന്\u200D സമ്മതിച്ചു." },
  {
    name: "Japanese",
    text: "請求書\u3000第１２号の金額は１，２５０円です。ＡＢＣ株式会社へ（株）振込。",
  },
  { name: "Chinese", text: "\u3000\u3000请向公司支付100元，账号：6222-0000，谢谢。OK，完成。" },
  { name: "Korean", text: "Google에서 환불 요청 3건을 처리해 주세요. 금액은 5,000원입니다." },
  { name: "Arabic", text: "ادفع ١٢٠٫٥٠ دينار إلى مُحَمَّدٌ بتاريخ 12/05/2026، شكرًا؟" },
  { name: "Hebrew with points", text: "שָׁלוֹם, נָא לְשַׁלֵּם ₪120.50 לְ־Acme (חשבונית 7), בGoogle\u200F." },
  { name: "Urdu", text: "براہ کرم ۵۰۰ روپے علی کو ادا کریں۔" },
  { name: "Hindi", text: "कृपया १,२५० रुपये राम के खाते में भेजें। क्\u200Dष धन्यवाद॥" },
  { name: "Bengali", text: "আমি ৪০০ টাকা পাঠাতে চাই, র\u200D্যাব অফিসে।" },
  { name: "Tamil", text: "தயவுசெய்து 500 ரூபாய் அனுப்பவும். நன்றி." },
  { name: "Thai", text: "กรุณาชำระเงิน ๑๒๐ บาท ที่นี่ น้ำ ให้กับบริษัท ABC" },
  { name: "Burmese", text: "ကျေးဇူးပြု၍ ၅၀၀ ကျပ် ပေးပါ။ မြွှေ့ မြန်မာ" },
  { name: "Khmer", text: "សូមបង់ប្រាក់\u200B៥០០\u200Bរៀល។" },
  { name: "Tibetan", text: "བོད་ཡིག་རྒྱུད་འཛིན།" },
  { name: "Vietnamese", text: "Vui lòng hoàn tiền 1.250.000 ₫ cho Nguyễn Văn Đức ở Đà Nẵng." },
  {
    name: "Vietnamese, decomposed",
    text: "Vui lòng hoàn tiền cho Nguyễn Văn Đức, Việt Nam.".normalize("NFD"),
  },
  {
    name: "Turkish",
    text: "Lütfen Iğdır’daki kapıcıya ısı parası olarak 250,00 ₺ öde: İstanbul, ışık.",
  },
  { name: "Azerbaijani", text: "Zəhmət olmasa, 100 manat ödəyin, qızıl ışıq." },
  { name: "Polish", text: "Proszę zapłacić 1 250,00 zł firmie Żółć i Łoś sp. z o.o." },
  {
    name: "German",
    text: "Bitte „Müller & Söhne“ 1.250,00 € überweisen – Straße 5a, Größe Ø 10 mm. Donau\u00ADdampf\u00ADschiff.",
  },
  {
    name: "Russian",
    text: "Оплатить счёт № 15 ООО «Ромашка», дом 5б, в 1С, а у нас сор и хор; IT-отдел, e-почта.",
  },
  { name: "Ukrainian", text: "Сплатити рахунок № 7 за обʼєкт у м. Київ, і все." },
  { name: "Serbian", text: "Плати 500 динара за оса и роса; Београд, Ниш." },
  { name: "Greek", text: "Πληρώστε 100 € στην Αθήνα, ο νόμος και η ώρα." },
  { name: "Georgian", text: "გთხოვთ გადაიხადოთ 100 ლარი, Googleში." },
  { name: "Armenian", text: "Խնդրում եմ վճարել 100 դրամ, Google-ում։" },
  { name: "Amharic", text: "እባክዎ 100 ብር ይክፈሉ፡ አመሰግናለሁ።" },
  { name: "Swahili", text: "Tafadhali lipa shilingi 5,000 kwa Juma ng’ombe." },
  { name: "Icelandic", text: "Greiðið 1.000 kr. til Þórðar, þakka þér, Ævar." },
  { name: "Hawaiian", text: "Hoʻokupu 5 i Hawaiʻi, ʻae." },
  {
    name: "special spaces",
    text: "Mr.\u00A0Smith paid 10\u00A0000\u00A0EUR on 5\u00A0May for 3\u2009kg, i.\u00A0e. 20\u202F°C – so\u200A—\u200Ayes.",
  },
  { name: "an amount in French", text: "1\u202F250\u202F000,00\u00A0€" },
  { name: "a name with two initials", text: "А.\u00A0С.\u00A0Пушкин" },
  { name: "Windows text", text: "First line\r\nSecond line\r\n\r\nThird\tcolumn\r\n" },
  { name: "a file with a byte order mark", text: "\uFEFFid;name\n1;Ann" },
  { name: "emoji", text: "Done 👨‍👩‍👧‍👦 ❤️ 1️⃣ 👍🏽 🏳️‍🌈 🇩🇪 ☎︎ ™️ ✅" },
  {
    name: "physics",
    text: "5 kΩ, 10kΩ, 3 μm, 5 µm, ΔT = 2 K, 2πr, 3σ, α = 0.05, E ≠ mc², 25 ℃, CO₂, 10 mℓ, x ∈ A∪B, ½, 1⁄2",
  },
  { name: "signs", text: "№ 5, §3, 20 °C, 100 %, ±5, 10×20, → next, “so” – and … © ® ™ º ª ﬁ" },
  {
    name: "accounts",
    text: "DE89 3704 0044 0532 0130 00, GB29NWBK60161331926819, BIC COBADEFFXXX, O2, O365, I-95, 10l, 2l/100 km",
  },
  {
    name: "identifiers",
    text: "550e8400-e29b-41d4-a716-446655440000 b1946ac92492d2347c6235b4d2611184 req_01JQ8O0I1l sha256:9f86d081 0x1F 0o17",
  },
  { name: "times", text: "2026-11-16T17:00:00.000Z, 10:30, 16/11/2026, 4:3, 1.2.3, v10.0.1" },
  {
    name: "mail and web",
    text: "ann.lee+tag@example.co.uk, https://example.com:8443/a/b?q=1&r=%20x#top, http://127.0.0.1:3000/, git@github.com:a/b.git",
  },
  {
    name: "connections",
    text: "postgres://app:secret@db.internal:5432/main?sslmode=require redis://:pw@cache:6379/0 file:///etc/hosts s3://bucket/key",
  },
  {
    name: "an honest foreign host",
    text: "Siehe https://bücher.example/ und info@müller.example, сайт пример.рф",
  },
  {
    name: "addresses at the ends of lines",
    text: "See https://example.com\nThanks\nhttps://example.org\n@ann please look\nAnn\thttps://example.com\tpaid",
  },
  {
    name: "shell",
    text: "rm -rf ./build && curl -s https://example.com/x | jq '.a[0]' > \"$HOME/out.json\"; echo 1|2",
  },
  { name: "Windows paths", text: "C:\\Users\\ann\\Documents\\file.txt and \\\\server\\share\\x" },
  {
    name: "SQL",
    text: "select id, amount from orders where status = 'OPEN' and amount > 100.00 -- all of them",
  },
  {
    name: "code",
    text: "for (let i = 0; i < 10; i += 1) { log(i, a[i] ?? 'none'); } // O(n)",
  },
];
