// Run under every runtime that the SDK is for: plain JavaScript that imports the package as it is published.

const { Countersign, constructEvent, WaitTimeoutError } = await import(process.env.SDK_UNDER_TEST);

const countersign = new Countersign();
const seen = [];

const asked = await countersign.requests.create({
  summary: "Refund order 1042",
  notify: "ann@example.com",
  payload: { amount: 49 },
});
seen.push(asked.status);
try {
  await countersign.requests.waitForDecision(asked.id, { timeoutMs: 10 });
} catch (error) {
  seen.push(error instanceof WaitTimeoutError ? error.name : String(error));
}
// The test that started this program approves the request that it names here.
// biome-ignore lint/suspicious/noConsole: how it talks to the test that started it
console.log(`approve ${asked.id}`);
const decided = await countersign.requests.waitForDecision(asked.id);
seen.push(decided.status, decided.effectivePayload.amount);
for await (const { id } of countersign.requests.list({ status: "APPROVED" })) {
  seen.push(id === asked.id);
}
try {
  await countersign.requests.cancel(asked.id);
} catch ({ name, status, code }) {
  seen.push(name, status, code);
}
const stopped = new AbortController();
stopped.abort(new Error("stopped"));
await countersign.requests
  .get(asked.id, { signal: stopped.signal })
  .catch((error) => seen.push(error.message));

const { body, header, secret, now } = JSON.parse(process.env.SIGNED);
seen.push((await constructEvent(body, header, secret, { now })).event);
await constructEvent(`${body} `, header, secret, { now }).catch(({ code }) => seen.push(code));
const { receipts } = await import(process.env.PROOF_UNDER_TEST);
for (const { receipt, ...options } of JSON.parse(process.env.RECEIPTS)) {
  const said = await receipts.verify(receipt, options);
  seen.push(said.ok ? said.level : said.reason);
}
// biome-ignore lint/suspicious/noConsole: as above
console.log(`seen ${JSON.stringify(seen)}`);
