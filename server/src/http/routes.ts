// The whole surface of the service: method, path, who may call, and what answers.

import * as approvals from "./approvals.ts";
import type { Answer, Call } from "./call.ts";
import { healthz, readyz } from "./health.ts";
import { openApiText } from "./openapi.ts";

export type Route = {
  method: "GET" | "POST";
  path: string;
  access: "api_key" | "anyone";
  handle: (call: Call) => Answer | Promise<Answer>;
};

export function routesOf(calls: approvals.ApprovalCalls): Route[] {
  const openApi: Answer = {
    status: 200,
    headers: { "cache-control": "public, max-age=300" },
    body: openApiText,
  };
  // biome-ignore format: a table is read by its columns
  return [
    { method: "POST", path: "/v1/requests", access: "api_key", handle: (call) => approvals.create(calls, call) },
    { method: "GET", path: "/v1/requests", access: "api_key", handle: (call) => approvals.list(calls, call) },
    { method: "GET", path: "/v1/requests/:id", access: "api_key", handle: (call) => approvals.read(calls, call) },
    { method: "POST", path: "/v1/requests/:id/cancel", access: "api_key", handle: (call) => approvals.cancel(calls, call) },
    { method: "GET", path: "/v1/openapi.json", access: "anyone", handle: () => openApi },
    { method: "GET", path: "/healthz", access: "anyone", handle: () => healthz() },
    { method: "GET", path: "/readyz", access: "anyone", handle: () => readyz(calls.db) },
  ];
}
