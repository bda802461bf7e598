import assert from "node:assert/strict";
import { test } from "node:test";
import { signingSecretOf, webhookHeaders } from "./webhook-signature.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const input = {
  deliveryId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  kind: "request.created",
  body: Buffer.from('{"test": 2432232314}'),
  at: new Date(1_614_265_330_999),
  secrets: [signingSecretOf(secret)],
} as const;

test("the Standard Webhooks headers agree with that standard's own published example", () => {
  const headers = webhookHeaders(input);
  assert.equal(headers["webhook-id"], "msg_p5jXN8AQM9LWM0D4loKWxJek");
  assert.equal(headers["webhook-timestamp"], "1614265330");
  assert.equal(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("v1 is lowercase hex of HMAC-SHA256, keyed with the secret as it is shown, over timestamp.body", () => {
  // printf '1614265330.{"test": 2432232314}' | openssl dgst -sha256 -hmac whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
  assert.equal(
    webhookHeaders(input)["x-service-signature"],
    "t=1614265330,v1=2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964",
  );
});

test("during a rotation both secrets sign, the newer one first", () => {
  const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const both = webhookHeaders({
    ...input,
    secrets: [signingSecretOf(other), signingSecretOf(secret)],
  });
  const alone = webhookHeaders({ ...input, secrets: [signingSecretOf(other)] });
  const old = webhookHeaders(input);
  assert.equal(
    both["x-service-signature"],
    `${alone["x-service-signature"]},${old["x-service-signature"].split(",")[1]}`,
  );
  assert.equal(
    both["webhook-signature"],
    `${alone["webhook-signature"]} ${old["webhook-signature"]}`,
  );
});
