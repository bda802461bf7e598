// Tricks with the hosts in addresses. Data only.

import type { Trick } from "./trick.ts";

export const hostTricks: readonly Trick[] = [
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
];
