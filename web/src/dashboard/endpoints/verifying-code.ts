// Code that verifies a webhook, ready to copy. docs/webhooks.md explains it.

export const verifyingCode = `import { createHmac, timingSafeEqual } from "node:crypto";

// header: X-Service-Signature; rawBody: the bytes as they came, before any JSON is parsed
export function isFromCountersign(secret, header, rawBody) {
  const pairs = header.split(",").map((part) => part.split("=", 2));
  const t = pairs.find(([name]) => name === "t")?.[1] ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(t)) <= 300)) return false;
  const expected = createHmac("sha256", secret).update(\`\${t}.\`).update(rawBody).digest();
  return pairs.some(([name, hex = ""]) => {
    const given = Buffer.from(hex, "hex");
    return name === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
`;
