// The whole surface of the service: method, path, who may call, and the handler.

import type { Database } from "../database/database.ts";
import { slackInteractionBytesMax } from "../domain/channels/slack-limits.ts";
import { mcpMessageBytesMax, tinyBodyBytesMax } from "../domain/limits.ts";
import * as approvals from "./api/approvals.ts";
import { showDefaultApprover } from "./api/default-approver.ts";
import { type HealthCalls, healthRoutes } from "./api/health.ts";
import { admitMcp, type McpCalls, makeMcpEndpoint } from "./api/mcp.ts";
import { type ReadMetrics, showMetrics } from "./api/metrics.ts";
import { dashboardRoutes } from "./dashboard/calls/routes.ts";
import type { DashboardCalls } from "./dashboard/visit.ts";
import * as devMails from "./dev-mail/dev-mail.ts";
import * as docs from "./docs/docs.ts";
import { openApiText } from "./docs/openapi.ts";
import * as packages from "./docs/packages.ts";
import { showAsset } from "./frame/assets.ts";
import type { Answer, Caller } from "./frame/call.ts";
import { reviewFault } from "./frame/problems.ts";
import { resourceMetadataPath } from "./frame/resource-metadata.ts";
import type { Route } from "./frame/route.ts";
import { inboxRoutes } from "./inbox/routes.ts";
import type { InboxCalls } from "./inbox/visit.ts";
import * as metadata from "./oauth/metadata.ts";
import { type OAuthCalls, oauthHandlers } from "./oauth/tokens.ts";
import { showLogProof } from "./proof/log-proofs.ts";
import { logRoutes } from "./proof/log-tiles.ts";
import * as receipts from "./proof/receipts.ts";
import * as reviews from "./review/reviews.ts";
import { interact, type SlackCalls } from "./slack/interactions.ts";

export type Calls = approvals.ApprovalCalls &
  reviews.ReviewCalls &
  DashboardCalls &
  InboxCalls &
  SlackCalls &
  McpCalls &
  HealthCalls & {
    devMail: devMails.DevMail | null;
    /** Null where metrics are off, or have a port of their own. */
    readMetrics: ReadMetrics | null;
  };

export function routesOf(calls: Calls): Route[] {
  const openApi: Answer = {
    status: 200,
    headers: { "cache-control": "public, max-age=300" },
    body: openApiText,
  };
  const admitKey = (caller: Caller) => approvals.admit(calls, caller);
  // biome-ignore format: a table is read by its columns
  return [
    { method: "POST", path: "/v1/requests", access: "api_key", admit: admitKey, handle: (call) => approvals.create(calls, call) },
    { method: "GET", path: "/v1/requests", access: "api_key", handle: (call) => approvals.list(calls, call) },
    { method: "GET", path: "/v1/requests/:id", access: "api_key", handle: (call) => approvals.read(calls, call) },
    { method: "GET", path: "/v1/requests/:id/receipt", access: "api_key", handle: (call) => receipts.showReceipt(calls, call) },
    { method: "GET", path: "/v1/requests/:id/effective-payload", access: "api_key", handle: (call) => receipts.showEffectivePayload(calls, call) },
    { method: "POST", path: "/v1/requests/:id/cancel", access: "api_key", admit: admitKey, bodyBytesMax: tinyBodyBytesMax, handle: (call) => approvals.cancel(calls, call) },
    { method: "POST", path: "/v1/requests/:id/redeem", access: "api_key", admit: admitKey, bodyBytesMax: tinyBodyBytesMax, handle: (call) => approvals.redeem(calls, call) },
    { method: "POST", path: "/v1/requests/:id/remind", access: "api_key", admit: admitKey, bodyBytesMax: tinyBodyBytesMax, handle: (call) => approvals.remind(calls, call) },
    { method: "GET", path: "/v1/requests/:id/log-proof", access: "api_key", handle: (call) => showLogProof(calls, call) },
    { method: "GET", path: "/v1/default-approver", access: "api_key", handle: (call) => showDefaultApprover(calls.db, call) },
    { method: "POST", path: "/mcp", access: "mcp", admit: (caller) => admitMcp(calls, caller), bodyBytesMax: mcpMessageBytesMax, handle: makeMcpEndpoint(calls) },
    { method: "GET", path: "/.well-known/jwks.json", access: "anyone", handle: () => receipts.showKeySet(calls) },
    { method: "GET", path: "/v1/openapi.json", access: "anyone", handle: () => openApi },
    ...healthRoutes(calls),
    { method: "POST", path: "/slack/interactions", access: "slack", bodyBytesMax: slackInteractionBytesMax, handle: (call) => interact(calls, call) },
    ...logRoutes(calls.db),
    ...oauthRoutes(calls),
    ...reviewRoutes(calls),
    ...dashboardRoutes(calls),
    ...inboxRoutes(calls),
    { method: "GET", path: "/docs", access: "anyone", handle: (call) => docs.showIndex(calls, call) },
    { method: "GET", path: "/docs/*", access: "anyone", handle: (call) => docs.showPage(calls, call) },
    { method: "GET", path: "/llms.txt", access: "anyone", handle: (call) => docs.showText(calls, call, "llms.txt") },
    { method: "GET", path: "/llms-full.txt", access: "anyone", handle: (call) => docs.showText(calls, call, "llms-full.txt") },
    { method: "GET", path: "/packages", access: "anyone", handle: () => packages.list(calls) },
    { method: "GET", path: "/packages/:file", access: "anyone", handle: (call) => packages.show(calls, call) },
    { method: "GET", path: "/assets/:file", access: "anyone", handle: (call) => showAsset(calls.assets, call) },
    ...(calls.readMetrics === null ? [] : [metricsRoute(calls.readMetrics)]),
    ...(calls.devMail === null ? [] : devMailRoutes(calls.db, calls.devMail)),
  ];
}

function metricsRoute(read: ReadMetrics): Route {
  const handle: Route["handle"] = (call) => showMetrics(read, call);
  return { method: "GET", path: "/metrics", access: "anyone", handle };
}

/** How an MCP client gets a token. A client looks at several addresses, by the path of what it called. */
function oauthRoutes(calls: OAuthCalls): Route[] {
  const { register, token } = oauthHandlers(calls);
  const show = (path: string, handle: (origin: OAuthCalls["origin"]) => Answer): Route[] =>
    [path, `${path}/*`].map((each) => ({
      method: "GET",
      path: each,
      access: "anyone",
      handle: () => handle(calls.origin),
    }));
  const call = { method: "POST", access: "anyone", bodyBytesMax: tinyBodyBytesMax } as const;
  return [
    ...show(resourceMetadataPath, metadata.showResource),
    ...show("/.well-known/oauth-authorization-server", metadata.showServer),
    ...show("/.well-known/openid-configuration", metadata.showServer),
    { ...call, path: "/oauth/register", handle: register },
    { ...call, path: "/oauth/token", handle: token },
  ];
}

/** The addresses behind a mailed link. Beside the GET of a page, only its own script may call these. */
function reviewRoutes(calls: reviews.ReviewCalls): Route[] {
  const show = {
    method: "GET",
    access: "review_link",
    onFault: (answer: Answer) => reviews.showFault(calls, answer),
  } as const;
  const act = {
    method: "POST",
    access: "review_link",
    onFault: reviewFault,
    admit: (caller: Caller) => reviews.admit(calls, caller),
  } as const;
  const ask = { ...act, bodyBytesMax: tinyBodyBytesMax };
  // biome-ignore format: a table is read by its columns
  return [
    { ...show, path: "/review/:token", handle: (call) => reviews.show(calls, call) },
    // People also open links that were cut off or grew on the way.
    { ...show, path: "/review/*", handle: (call) => reviews.showDeadLink(calls, call) },
    { ...ask, path: "/review/:token/open", handle: (call) => reviews.open(calls, call) },
    { ...ask, path: "/review/:token/status", handle: (call) => reviews.status(calls, call) },
    { ...ask, path: "/review/:token/colleagues", handle: (call) => reviews.colleagues(calls, call) },
    { ...ask, path: "/review/:token/hand-over", handle: (call) => reviews.passOn(calls, call) },
    { ...act, path: "/review/:token/decision", handle: (call) => reviews.decide(calls, call) },
  ];
}

/** Exists only without a mail server. */
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
