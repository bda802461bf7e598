// Tests of how sessions are named, with the names that real browsers give themselves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserName } from "./browser-name.ts";

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";

test("a browser is called what its owner calls it", () => {
  const known: [string, string][] = [
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/141.0.0.0 Safari/537.36`, "Chrome on Linux"],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/141.0.0.0 Safari/537.36 Edg/141.0`,
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0",
      "Firefox on Mac",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
      "Safari on iPhone",
    ],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/141.0.0.0 Mobile Safari/537.36`,
      "Chrome on Android",
    ],
  ];
  for (const [userAgent, name] of known) assert.equal(browserName(userAgent), name);
});

test("an unknown browser is said to be unknown", () => {
  assert.equal(browserName(null), "Unknown browser");
  assert.equal(browserName("curl/8.5.0"), "Unknown browser");
  assert.equal(browserName("Something (X11; Linux x86_64)"), "A browser on Linux");
});
