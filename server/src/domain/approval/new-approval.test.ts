import assert from "node:assert/strict";
import { test } from "node:test";
import { isRefusal, type Refusal } from "../refusal.ts";
import { type NewApproval, parseNewApproval } from "./new-approval.ts";

const good = { summary: "Refund", notify: "ann@example.com" };

function parse(body: object | string): NewApproval | Refusal {
  return parseNewApproval(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
}

function accepted(body: object | string): NewApproval {
  const parsed = parse(body);
  if (isRefusal(parsed)) assert.fail(parsed.message);
  return parsed;
}

function refused(body: object | string): [string, string] {
  const parsed = parse(body);
  if (!isRefusal(parsed)) assert.fail("was accepted");
  return [parsed.refusal, parsed.message];
}

function assertRefused(body: object | string, code: string, message: RegExp): void {
  const [actualCode, actualMessage] = refused(body);
  assert.equal(actualCode, code, actualMessage);
  assert.match(actualMessage, message);
}

test("limits count Unicode code points, and are inclusive", () => {
  const emoji = "\u{1F44D}";
  assert.equal(accepted({ ...good, summary: emoji.repeat(500) }).summary.length, 1000);
  assertRefused(
    { ...good, summary: emoji.repeat(501) },
    "validation_error",
    /^summary: .*500.*501/,
  );
  accepted({ ...good, agentName: "x".repeat(100) });
  assertRefused({ ...good, agentName: "x".repeat(101) }, "validation_error", /^agentName: /);
  accepted({ ...good, reasoning: emoji.repeat(2000) });
  assertRefused({ ...good, reasoning: "x".repeat(2001) }, "validation_error", /^reasoning: /);
  accepted({ ...good, recentActions: Array(10).fill(emoji.repeat(300)) });
  assertRefused(
    { ...good, recentActions: Array(11).fill("x") },
    "validation_error",
    /^recentActions: .*10.*11/,
  );
  assertRefused(
    { ...good, recentActions: ["a", "x".repeat(301)] },
    "validation_error",
    /^recentActions\[1\]: /,
  );
});

test("ttlMinutes is a whole number from 5 to 10080, however it is written", () => {
  for (const text of ["5", "10080", "60.0", "6e1"]) {
    accepted(`{"summary":"s","notify":"a@b.co","ttlMinutes":${text}}`);
  }
  for (const text of ["4", "10081", "5.5", "-5", "0", "1e400", '"60"', "true", "[5]", "{}"]) {
    assertRefused(
      `{"summary":"s","notify":"a@b.co","ttlMinutes":${text}}`,
      "validation_error",
      /^ttlMinutes: .*5 to 10080/,
    );
  }
});

test("wrong types are refused with the name of the field and what came", () => {
  assertRefused(
    { ...good, summary: 5 },
    "validation_error",
    /^summary: must be a string, not a number/,
  );
  assertRefused(
    { ...good, notify: ["a@b.co"] },
    "validation_error",
    /^notify: must be a string, not an array/,
  );
  assertRefused(
    { ...good, agentName: {} },
    "validation_error",
    /^agentName: must be a string, not an object/,
  );
  assertRefused(
    { ...good, recentActions: "x" },
    "validation_error",
    /^recentActions: must be an array of strings/,
  );
  assertRefused(
    { ...good, recentActions: [null] },
    "validation_error",
    /^recentActions\[0\]: .*not null/,
  );
});

test("summary and notify are required and must show something", () => {
  assertRefused({ notify: "a@b.co" }, "validation_error", /^summary: is required/);
  assertRefused({ summary: "s" }, "validation_error", /^notify: is required/);
  assertRefused({ summary: null, notify: "a@b.co" }, "validation_error", /^summary: is required/);
  for (const blank of ["", "  \n\t", "\u200b", "\u3164", "\u2800", "\ufeff", "\u00ad\u2060"]) {
    assertRefused({ ...good, summary: blank }, "validation_error", /^summary: must not be blank/);
    assertRefused({ ...good, notify: blank }, "validation_error", /^notify: /);
  }
});

test("the first failing field in the order of the contract is named", () => {
  const everythingWrong = {
    ttlMinutes: 1,
    recentActions: 1,
    reasoning: 1,
    agentName: 1,
    notify: 1,
    summary: 1,
  };
  assertRefused(everythingWrong, "validation_error", /^summary: /);
  const order = ["summary", "notify", "agentName", "reasoning", "recentActions", "ttlMinutes"];
  for (const [at, field] of order.entries()) {
    const body: Record<string, unknown> = { ...everythingWrong, summary: "s", notify: "a@b.co" };
    for (const mended of order.slice(2, at)) delete body[mended];
    if (at < 2) body[field] = 1;
    assertRefused(body, "validation_error", new RegExp(`^${field}: `));
  }
  assertRefused(
    '{"payload":{"a":1,"a":2},"notify":1,"summary":"s"}',
    "validation_error",
    /^payload\.a: /,
  );
  assertRefused('{"payload":{"a":1,"a":2},"notify":1}', "validation_error", /^summary: /);
});

test("text refuses U+0000, lone surrogates and controls, but takes tabs and line breaks", () => {
  for (const flawed of [
    '"a\\u0000"',
    '"\\ud800"',
    '"\\udc00x"',
    '"\\u001b[31m"',
    '"\\u007f"',
    '"\\u0085"',
  ]) {
    for (const field of ["summary", "agentName", "reasoning"]) {
      assertRefused(
        `{"notify":"a@b.co","summary":"s","${field}x":1,${field === "summary" ? "" : `"${field}":${flawed},`}"z":1}`.replace(
          '"summary":"s"',
          field === "summary" ? `"summary":${flawed}` : '"summary":"s"',
        ),
        "validation_error",
        new RegExp(`^${field}: must not contain`),
      );
    }
  }
  const text = "tab\tline\nreturn\r\nname\u00efve \u202Eשלום 日本 \u{1F468}\u200D\u{1F469}";
  assert.equal(accepted({ ...good, summary: text }).summary, text);
  assert.equal(accepted({ ...good, summary: "  kept as it is  " }).summary, "  kept as it is  ");
});

test("notify takes one plain address or a group key, and nothing that looks like more", () => {
  for (const address of [
    "ann@example.com",
    "ann.b+tag@mail.example.co.uk",
    "owner@localhost",
    "o'hara@example.com",
    `${"a".repeat(64)}@${"b".repeat(63)}.com`,
  ]) {
    assert.deepEqual(accepted({ ...good, notify: address }).notify, {
      kind: "address",
      email: address,
    });
  }
  for (const address of [
    "ann",
    "ann@",
    "@example.com",
    "ann@example.com,bob@example.com",
    "ann@example.com bob@example.com",
    "Ann <ann@example.com>",
    '"ann"@example.com',
    " ann@example.com",
    "ann@example.com\n",
    "ann@example.com\r\nBcc: eve@example.com",
    "ann@exa mple.com",
    "ann@-example.com",
    "ann@example..com",
    ".ann@example.com",
    "a..b@example.com",
    "ann@[127.0.0.1]",
    "ann@ex\u0430mple.com",
    "mailto:ann@example.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(60)}.${"f".repeat(20)}`,
  ]) {
    assertRefused({ ...good, notify: address }, "validation_error", /^notify: /);
  }
  assert.deepEqual(accepted({ ...good, notify: "group:fin_ance-2" }).notify, {
    kind: "group",
    key: "fin_ance-2",
  });
  for (const key of ["", "Finance", "-a", "_a", "a b", "a".repeat(65), "a\n", "é"]) {
    assertRefused({ ...good, notify: `group:${key}` }, "validation_error", /^notify: .*key/);
  }
});

test("agentState may have 262144 bytes of JSON as sent, and not one more", () => {
  const stateOf = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  const body = (state: string) => `{"summary":"s","notify":"a@b.co","agentState":  ${state}  }`;
  assert.equal(accepted(body(stateOf(262_144))).agentState?.length, 262_144);
  assertRefused(body(stateOf(262_145)), "state_too_large", /^agentState: .*262144.*262145/);
  // Bytes, not characters: each é is two.
  accepted(body(`"${"é".repeat(131_071)}"`));
  assertRefused(body(`"${"é".repeat(131_072)}"`), "state_too_large", /262146/);
  assertRefused(
    `{"notify":"a@b.co","agentState":${stateOf(262_145)}}`,
    "validation_error",
    /^summary: /,
  );
});

test("opaque fields are kept as the text that was sent", () => {
  const text =
    '{ "b":1 , "2":1.0,"1":-0, "big":9007199254740993, "e":1E400, "s":"\\u0000\\ud800" }';
  const approval = accepted(
    `{"summary":"s","notify":"a@b.co","payload":${text},"metadata": ${text} ,"agentState":${text}}`,
  );
  assert.equal(approval.payload, text);
  assert.equal(approval.metadata, text);
  assert.equal(approval.agentState, text);
  for (const falsy of ["false", "0", '""', "[]", "{}"]) {
    assert.equal(accepted(`{"summary":"s","notify":"a@b.co","payload":${falsy}}`).payload, falsy);
  }
});

test("broken bodies are invalid_json, and a body that is no object says so", () => {
  assertRefused("", "invalid_json", /empty/);
  assertRefused("{", "invalid_json", /ends too early/);
  assertRefused("[]", "validation_error", /JSON object/);
  assertRefused("null", "validation_error", /JSON object/);
  const broken = parseNewApproval(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
  assert.ok(isRefusal(broken) && broken.refusal === "invalid_json" && /UTF-8/.test(broken.message));
  const surrogate = parseNewApproval(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]));
  assert.ok(isRefusal(surrogate) && surrogate.refusal === "invalid_json");
});

test("duplicate keys are refused wherever they are, also beside the fields we know", () => {
  assertRefused(
    '{"summary":"a","summary":"b","notify":"a@b.co"}',
    "validation_error",
    /^summary: appears more than once/,
  );
  assertRefused('{"summary":"a","notify":"a@b.co","x":1,"x":1}', "validation_error", /^x: appears/);
  assertRefused(
    '{"summary":"a","notify":"a@b.co","x":{"y":[{"z":1,"z":1}]}}',
    "validation_error",
    /^x\.y\[0\]\.z: /,
  );
  assertRefused(
    '{"summary":"a","notify":"a@b.co","x":{},"payload":null,"payload":1}',
    "validation_error",
    /^payload: /,
  );
});

test("nesting beyond 128 levels is refused naming the field, and broken JSON comes first", () => {
  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  accepted(`{"summary":"s","notify":"a@b.co","payload":${deep(128)}}`);
  assertRefused(
    `{"summary":"s","notify":"a@b.co","payload":${deep(129)}}`,
    "validation_error",
    /^payload: .*128/,
  );
  assertRefused(
    `{"summary":"s","notify":"a@b.co","other":${deep(50_000)}}`,
    "validation_error",
    /^other: /,
  );
  assertRefused(
    `{"summary":"s","notify":"a@b.co","payload":${"[".repeat(50_000)}}`,
    "invalid_json",
    /JSON/,
  );
});

test("a prototype key in a body touches no prototype", () => {
  const approval = accepted(
    '{"summary":"s","notify":"a@b.co","__proto__":{"payload":1},"payload":{"__proto__":{"admin":true}}}',
  );
  assert.equal(approval.payload, '{"__proto__":{"admin":true}}');
  assert.equal("admin" in {}, false);
});
