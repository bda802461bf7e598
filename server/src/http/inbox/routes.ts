// The addresses of the inbox and who may call them: the page is anybody's and holds nothing, everything else is the
// signed-in person's own. An opened request answers like the page behind a link.

import { formBytesMax, tinyBodyBytesMax } from "../../domain/limits.ts";
import * as reviewStorage from "../../storage/approvals/reviews.ts";
import type { Answer, Call, Caller, StreamedAnswer } from "../frame/call.ts";
import { compressed } from "../frame/compression.ts";
import { reviewFault, reviewProblem } from "../frame/problems.ts";
import type { Admission, Route } from "../frame/route.ts";
import * as reviews from "../review/reviews.ts";
import { manifestPath, serviceWorkerPath, showManifest, showServiceWorker } from "./app.ts";
import { decideSeveral } from "./decisions.ts";
import { listen } from "./events.ts";
import * as lists from "./lists.ts";
import { inboxHtml } from "./page.ts";
import * as settings from "./settings.ts";
import {
  accessOf,
  amrOf,
  type InboxCalls,
  InboxDoor,
  nothingHere,
  signedOut,
  type Visit,
} from "./visit.ts";

const apiPath = "/inbox/api";

type Handle = (calls: InboxCalls, visit: Visit) => Promise<Answer | StreamedAnswer>;

export function inboxRoutes(calls: InboxCalls): Route[] {
  const door = new InboxDoor(calls);
  const page = {
    method: "GET",
    access: "inbox",
    handle: (call: Call) => compressed(call, inboxHtml(calls)),
  } as const;
  const route = (method: "GET" | "POST", path: string, handle: Handle): Route => ({
    method,
    path: `${apiPath}${path}`,
    access: "inbox",
    bodyBytesMax: tinyBodyBytesMax,
    onFault: reviewFault,
    handle: (call) => door.enter(call, (visit) => handle(calls, visit)),
  });
  const place = (name: string, handle: typeof reviews.open): Route =>
    route("POST", `/reviews/:id/${name}`, (_, { call, person }) =>
      handle(calls, call, accessOf(call, person.email)),
    );
  const { bodyBytesMax: _, ...decision } = route(
    "POST",
    "/reviews/:id/decision",
    (_, { call, person }) =>
      reviews.decide(calls, call, {
        access: accessOf(call, person.email),
        session: amrOf(person),
      }),
  );
  return [
    { ...page, path: "/inbox" },
    // The page decides what it shows there.
    { ...page, path: "/inbox/*" },
    { ...page, path: `${apiPath}/*`, handle: () => nothingHere() },
    { ...page, path: manifestPath, handle: () => showManifest(calls) },
    { ...page, path: serviceWorkerPath, handle: () => showServiceWorker(calls) },
    route("GET", "/list", lists.list),
    route("GET", "/past", lists.past),
    route("GET", "/find/:requestId", lists.find),
    place("open", reviews.open),
    place("status", reviews.status),
    place("colleagues", reviews.colleagues),
    place("hand-over", reviews.passOn),
    route("GET", "/events", listen),
    route("GET", "/settings", settings.show),
    route("POST", "/settings", settings.change),
    route("POST", "/push-subscriptions", settings.subscribe),
    route("POST", "/push-subscriptions/:id/remove", settings.unsubscribe),
    route("POST", "/slack-code", settings.makeSlackCode),
    route("POST", "/slack-accounts/:teamId/remove", settings.removeSlack),
    { ...route("POST", "/decisions", decideSeveral), bodyBytesMax: formBytesMax },
    // Its edit may be large.
    { ...decision, admit: (caller) => admit(calls, door, caller) },
  ];
}

/** Runs before a large body is read. */
async function admit(calls: InboxCalls, door: InboxDoor, caller: Caller): Promise<Admission> {
  const visitor = await door.find(caller);
  if (visitor === null) return { refused: signedOut() };
  const found = await reviewStorage.weigh(calls.db, accessOf(caller, visitor.email));
  if (found === null) return { refused: unknownPlace() };
  caller.facts.workspaceId = found.workspaceId;
  caller.facts.approvalId = found.approvalId;
  return { holder: found.workspaceId };
}

function unknownPlace(): Answer {
  return reviewProblem(
    "not_found",
    "You are not asked about this request, or no longer. Nothing was decided.",
  );
}
