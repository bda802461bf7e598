// The samples of the API reference: each call with curl, and with the SDK where it has one. Their values are the
// examples of the OpenAPI document. docs/code-blocks.test.ts runs every one of them against the service.

import { exampleOf, type Operation } from "./operations.ts";

export type Sample = { language: "sh" | "ts"; name: string; code: string };

/** The service fills in its own address. */
export const urlPlaceholder = "{{url}}";

export function samplesOf(operation: Operation): Sample[] {
  const sdk = sdkSampleOf(operation);
  const curl = { language: "sh", name: "curl", code: curlSampleOf(operation) } as const;
  return sdk === null ? [curl] : [curl, { language: "ts", name: "TypeScript SDK", code: sdk }];
}

function curlSampleOf(operation: Operation): string {
  const { method, path, security, parameters = [], requestBody } = operation;
  const examples = parameters.filter(({ example }) => example !== undefined);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(examples.find((each) => each.name === name)?.example)),
  );
  const queried = examples.filter((each) => each.in === "query");
  const query = new URLSearchParams(
    queried.map(({ name, example }): [string, string] => [name, String(example)]),
  );
  const url = `${urlPlaceholder}${filled}${query.size === 0 ? "" : `?${query}`}`;
  const body = exampleOf(requestBody?.content);
  const parts = [
    `curl -s ${query.size === 0 ? url : `"${url}"`}`,
    ...(method === "POST" && body === undefined ? ["-X POST"] : []),
    ...(security === undefined ? ['-H "Authorization: Bearer $COUNTERSIGN_API_KEY"'] : []),
    ...examples
      .filter((each) => each.in === "header")
      .map(({ name, example }) => `-H "${name}: ${String(example)}"`),
    ...(body === undefined
      ? []
      : [`-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`]),
  ];
  return parts.join(" \\\n  ");
}

/** By the call's name in OpenAPI. Those of "Service" are for operators and their tools. */
function sdkSampleOf(operation: Operation): string | null {
  const { operationId, parameters = [], requestBody } = operation;
  const value = (name: string) =>
    literal(parameters.find((each) => each.name === name)?.example, "");
  const calls: Record<string, () => string> = {
    createRequest: () => `const request = await countersign.requests.create(
  ${literal(exampleOf(requestBody?.content), "  ")},
  { idempotencyKey: ${value("Idempotency-Key")} },
);
console.log(request.id, request.status);`,
    listRequests:
      () => `const filter = { status: ${value("status")}, agentName: ${value("agentName")} } as const;
for await (const request of countersign.requests.list(filter)) {
  console.log(request.id, request.summary);
}`,
    getRequest: () => `const id = ${value("id")};
const now = await countersign.requests.get(id);
console.log(now.status);

// Or wait for the decision, as long as it takes.
const decided = await countersign.requests.waitForDecision(id);
if (decided.status === "APPROVED") console.log("execute", decided.effectivePayload);`,
    cancelRequest: () => `const request = await countersign.requests.cancel(${value("id")});
console.log(request.status);`,
    remindRequest: () => `const request = await countersign.requests.remind(${value("id")});
console.log(request.status);`,
    redeemRequest: () => `const redeemed = await countersign.requests.redeem(${value("id")});
console.log("execute", redeemed.effectivePayload);`,
    getReceipt: () => `const receipt = await countersign.requests.receipt(${value("id")});
console.log(receipt);`,
    getLogProof: () => `const proof = await countersign.requests.logProof(${value("id")});
console.log(proof);`,
    getEffectivePayload:
      () => `const { text, digest } = await countersign.requests.effectivePayload(${value("id")});
console.log(digest, text);`,
  };
  const call = calls[operationId]?.();
  if (call === undefined) return null;
  return `import { Countersign } from "@countersign/sdk";

const countersign = new Countersign(); // reads COUNTERSIGN_API_KEY and COUNTERSIGN_BASE_URL

${call}`;
}

const lineCharactersMax = 72;

/** A value as TypeScript writes it: names without quotes, one line if it fits. */
function literal(value: unknown, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = (deeper: string) =>
    Object.entries(value).map(([name, each]) =>
      isList ? literal(each, deeper) : `${name}: ${literal(each, deeper)}`,
    );
  const [open, close] = isList ? ["[", "]"] : ["{ ", " }"];
  const short = `${open}${parts(indent).join(", ")}${close}`;
  if (short.length <= lineCharactersMax && !short.includes("\n")) return short;
  const deeper = `${indent}  `;
  const lines = parts(deeper).map((part) => `${deeper}${part},\n`);
  return `${open.trim()}\n${lines.join("")}${indent}${close.trim()}`;
}
