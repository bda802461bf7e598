// Holds an answer against the OpenAPI document: its status must be described, its body must fit the schema.

import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formatsModule from "ajv-formats";
import { openApi } from "../src/http/docs/openapi.ts";

type Answered = { status: number; headers: Record<string, string>; text: string; json: unknown };
type Described = { content?: Record<string, { schema: object }> };

const ajv = new Ajv2020({ strict: false, allErrors: true });
formatsModule.default(ajv);
ajv.addSchema(openApi, "openapi");
const validators = new Map<string, ValidateFunction>();

export function checkAnswer(method: string, path: string, answer: Answered): void {
  const where = `${method} ${path} → ${answer.status}`;
  assert.match(answer.headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/, `${where}: X-Request-Id`);
  const pointer = pointerOf(method, path, answer.status);
  if (method === "HEAD" || answer.status === 304) {
    assert.equal(answer.text, "", where);
    return;
  }
  const isToken = pointer.includes(`/content/${tokenType}/`);
  const type = isToken ? "application/jwt" : "application/json; charset=utf-8";
  assert.equal(answer.headers["content-type"], type, where);
  const validate = validatorOf(pointer);
  assert.ok(
    validate(isToken ? answer.text : answer.json),
    `${where} does not fit OpenAPI: ${ajv.errorsText(validate.errors)}`,
  );
}

/** Holds what a receiver got against what the document says that it gets. */
export function checkWebhook(json: { event: string }): void {
  assert.ok(json.event in openApi.webhooks, `${json.event} is not described in OpenAPI`);
  const schema = json.event === "log.checkpoint" ? "CheckpointEvent" : "WebhookEvent";
  const validate = validatorOf(`/components/schemas/${schema}`);
  assert.ok(validate(json), `${json.event} does not fit: ${ajv.errorsText(validate.errors)}`);
}

/** Where the document describes this answer. Errors of paths and methods it does not know are envelopes all the same. */
function pointerOf(method: string, path: string, status: number): string {
  const template = Object.keys(openApi.paths).find((each) =>
    matches(each, path.split("?")[0] ?? ""),
  );
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const paths = openApi.paths as Record<
    string,
    Record<string, { responses: Record<string, Described> }>
  >;
  const responses = template === undefined ? undefined : paths[template]?.[verb]?.responses;
  if (template === undefined || responses === undefined) {
    assert.ok(status === 404 || status === 405, `${method} ${path} → ${status} is not described`);
    return "/components/schemas/Error";
  }
  const code = [String(status), `${String(status)[0]}XX`].find((each) => each in responses);
  assert.ok(code !== undefined, `${method} ${path} → ${status} is not described in OpenAPI`);
  const { content = {} } = responses[code] ?? {};
  const type = "application/jwt" in content ? tokenType : "application~1json";
  return `/paths/${toPointerPart(template)}/${verb}/responses/${code}/content/${type}/schema`;
}

const tokenType = "application~1jwt";

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(".", "\\.").replaceAll(/\{[^}]+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`).test(path);
}

function toPointerPart(template: string): string {
  return encodeURIComponent(template.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function validatorOf(pointer: string): ValidateFunction {
  const known = validators.get(pointer);
  if (known !== undefined) return known;
  const validate = ajv.compile({ $ref: `openapi#${pointer}` });
  validators.set(pointer, validate);
  return validate;
}
