// The whole surface of the service: method, path, who may call, and what answers.

import type { Database } from "../storage/database.ts";
import * as approvals from "./approvals.ts";
import type { Answer, Call } from "./call.ts";
import * as devMails from "./dev-mail.ts";
import { healthz, readyz } from "./health.ts";
import { openApiText } from "./openapi.ts";

export type Route = {
  method: "GET" | "POST";
  path: string;
  access: "api_key" | "this_machine" | "anyone";
  handle: (call: Call) => Answer | Promise<Answer>;
};

export type Calls = approvals.ApprovalCalls & { devMail: devMails.DevMail | null };

export function routesOf(calls: Calls): Route[] {
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
    ...(calls.devMail === null ? [] : devMailRoutes(calls.db, calls.devMail)),
  ];
}

/** There only while there is no mail server. */
function devMailRoutes(db: Database, devMail: devMails.DevMail): Route[] {
  const calls = { db, devMail };
  // biome-ignore format: a table is read by its columns
  return [
    { method: "GET", path: "/dev/mail", access: "this_machine", handle: (call) => devMails.list(calls, call) },
    { method: "GET", path: "/dev/mail/style.css", access: "this_machine", handle: () => devMails.style() },
    { method: "GET", path: "/dev/mail/:id", access: "this_machine", handle: (call) => devMails.show(calls, call) },
    { method: "GET", path: "/dev/mail/:id/html", access: "this_machine", handle: (call) => devMails.showHtml(calls, call) },
    { method: "GET", path: "/dev/mail/:id/raw", access: "this_machine", handle: (call) => devMails.showRaw(calls, call) },
  ];
}
