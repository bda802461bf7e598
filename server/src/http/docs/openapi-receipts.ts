// Receipts in the OpenAPI document: what an executor fetches before it acts, and the keys to verify with.

import {
  common,
  json,
  query,
  ref,
  refusal,
  requestId,
  requestIdParameter,
} from "./openapi-operations.ts";

/** Cut short: a whole one fills a page. */
export const exampleReceipt =
  "eyJhbGciOiJFZDI1NTE5IiwidHlwIjoiY291bnRlcnNpZ24tcmVjZWlwdCtqd3QiLCJraWQiOiJrUHJLX3FteFZXYVlWQTl3d0JGNkl1bzN2Vnp6N1R4SENUd1hCeWdyUzRrIn0.eyJpc3MiOiJodHRwczovL2FwcHJvdmFscy5leGFtcGxlLmNvbSJ9.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

const etag = {
  ETag: { description: "Names these bytes.", schema: { type: "string" } },
};

const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "An `ETag` of an earlier answer.",
  schema: { type: "string" },
};

const notModified = {
  description: "Nothing has changed since the answer with this `ETag`.",
  headers: requestId,
};

/** `approved` is a request as answers carry it. */
export function describeReceipts({
  id,
  effectivePayload,
}: {
  id: string;
  effectivePayload: object;
}) {
  const idParameter = requestIdParameter(id);
  return {
    "/v1/requests/{id}/receipt": {
      get: {
        operationId: "getReceipt",
        tags: ["Requests"],
        summary: "Read the signed receipt of a decision",
        description:
          "A compact JWS (`alg` Ed25519) that says what was decided, by whom, and about which exact bytes. Verify it with the keys at `/.well-known/jwks.json`; no call to us is needed. The same request always has the same receipt, unless its key is revoked.",
        parameters: [
          idParameter,
          query(
            "embed",
            { type: "string", enum: ["payload"] },
            "Puts the exact text of the effective payload into the claim `text`.",
          ),
          ifNoneMatch,
        ],
        responses: {
          "200": {
            description: "The receipt.",
            headers: { ...requestId, ...etag },
            content: {
              "application/jwt": { schema: { type: "string" }, example: exampleReceipt },
            },
          },
          "304": notModified,
          "400": refusal("`validation_error`: `embed` is not `payload`."),
          "404": refusal(
            "`not_found`: unknown, malformed or of another workspace, or nobody has approved or rejected it.",
          ),
          ...common,
        },
      },
    },
    "/v1/requests/{id}/effective-payload": {
      get: {
        operationId: "getEffectivePayload",
        tags: ["Requests"],
        summary: "Read the exact bytes that were approved",
        description:
          "The bytes whose SHA-256 the receipt names: hash and execute these, and never write the JSON anew before.",
        parameters: [idParameter, ifNoneMatch],
        responses: {
          "200": {
            description: "The effective payload, to the byte.",
            headers: {
              ...requestId,
              ...etag,
              "Repr-Digest": {
                description: "`sha-256=:<base64>:` of the bytes (RFC 9530).",
                schema: { type: "string" },
              },
            },
            content: json({}, effectivePayload),
          },
          "304": notModified,
          "404": refusal(
            "`not_found`: unknown, malformed or of another workspace, not approved, or created without a payload.",
          ),
          ...common,
        },
      },
    },
    "/.well-known/jwks.json": {
      get: {
        operationId: "getKeySet",
        tags: ["Service"],
        summary: "Read the keys that receipts are verified with",
        description:
          "Current and retired keys. A receipt whose key is in `revoked` doesn't count: ask for a new one.",
        security: [],
        responses: {
          "200": {
            description: "A JWK set (RFC 7517, RFC 8037).",
            headers: requestId,
            content: json(ref("KeySet")),
          },
          "4XX": refusal("The call was malformed."),
          "500": common["500"],
          "503": common["503"],
        },
      },
    },
  };
}

const unixTime = (description: string) => ({ type: "integer", description });

export const keySetSchema = {
  type: "object",
  required: ["keys", "revoked"],
  properties: {
    keys: {
      type: "array",
      items: {
        type: "object",
        required: ["kty", "crv", "x", "kid", "use", "iat"],
        properties: {
          kty: { type: "string", const: "OKP" },
          crv: { type: "string", const: "Ed25519" },
          x: { type: "string", description: "The public key in base64url." },
          kid: { type: "string", description: "Its RFC 7638 thumbprint." },
          use: { type: "string", const: "sig" },
          iat: unixTime("When it was made, in Unix seconds."),
          retiredAt: unixTime("Since when it signs nothing. What it signed before counts."),
        },
        additionalProperties: false,
      },
    },
    revoked: {
      type: "array",
      items: {
        type: "object",
        required: ["kid", "revokedAt"],
        properties: { kid: { type: "string" }, revokedAt: unixTime("In Unix seconds.") },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};
