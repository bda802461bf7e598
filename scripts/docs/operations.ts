// The calls and events of the OpenAPI document as the reference and its samples read them.

import { openApi } from "../../server/src/http/docs/openapi.ts";

export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: readonly string[];
  const?: unknown;
  oneOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  description?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  default?: unknown;
  example?: unknown;
};

export type Parameter = {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
};

type Media = { schema: Schema; example?: unknown };
/** JSON, but for receipts. */
type Content = { "application/json"?: Media; "application/jwt"?: Media };

export type Answered = {
  description: string;
  headers?: Record<string, { description: string }>;
  content?: Content;
};

export type Operation = {
  /** Of the call: GET or POST. */
  method: string;
  path: string;
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  /** An empty list: no key is needed. */
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Answered>;
};

type Described = Omit<Operation, "method" | "path">;

export const operations: Operation[] = readAll(openApi.paths);
/** The path of an event is its name. */
export const webhooks: Operation[] = readAll(openApi.webhooks);
export const tags = openApi.tags;

function readAll(paths: object): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Described>).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** The name of a schema that others refer to. */
export function nameOf({ $ref }: Schema): string | null {
  return $ref === undefined ? null : ($ref.split("/").at(-1) ?? null);
}

export function resolve(schema: Schema): Schema {
  const name = nameOf(schema);
  if (name === null) return schema;
  const schemas = openApi.components.schemas as Record<string, Schema>;
  const found = schemas[name];
  if (found === undefined) throw new Error(`OpenAPI has no schema ${name}.`);
  return found;
}

export function exampleOf(content: Content | undefined): unknown {
  const json = content?.["application/json"];
  return json === undefined ? undefined : (json.example ?? resolve(json.schema).example);
}

export function schemaOf(content: Content | undefined): Schema | undefined {
  return content?.["application/json"]?.schema;
}
