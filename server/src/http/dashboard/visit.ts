// The input of a dashboard handler, and how it parses a body: a refusal names the wrong field.

import type { z } from "zod";
import type { Database } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { OidcClient } from "../../domain/access/openid.ts";
import { textOf } from "../../domain/approval/json-body.ts";
import type { CallSlack } from "../../domain/channels/slack-answer.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import type { MemberDoer } from "../../domain/workspace/activity.ts";
import type { Role } from "../../domain/workspace/role.ts";
import type { ReadReceipt } from "../../operations/proof/receipts.ts";
import type { ResolutionWatch } from "../../storage/approvals/resolution-watch.ts";
import type { DashboardErrorCode } from "../../wire/dashboard-contract.ts";
import type { Assets } from "../frame/assets.ts";
import type { Call } from "../frame/call.ts";
import type { FairBudget } from "../frame/fair-budget.ts";

/** The dependencies of the dashboard's handlers. */
export type DashboardCalls = {
  db: Database;
  keyring: Keyring;
  /** An object, because a port that the system chooses is known only once the service listens. */
  origin: { readonly publicUrl: string };
  assets: Assets;
  resolutions: ResolutionWatch;
  /** Turns for reads that may answer megabytes. */
  heavyReads: FairBudget;
  /** Call it when something became due for a worker. */
  onDue: () => void;
  /** Runs something after the answer and logs its faults. */
  inBackground: (work: () => Promise<void>) => void;
  /** There is no mail server. */
  isMailKept: boolean;
  /** Says what is wrong with the address behind a webhook's URL; null when it may be registered. */
  examineAddress: (url: string) => Promise<string | null>;
  callSlack: CallSlack;
  readReceipt: ReadReceipt;
  /** The company's own sign-in, if one is set up. */
  oidc: OidcClient | null;
  /** Milliseconds since some fixed time, for rate limits. */
  clock: () => number;
};

/** A signed-in person. */
export type Person = { id: string; email: string; sessionId: string };

export type Visit = { call: Call; person: Person };

/** A signed-in member of the workspace in the path, in a role that may make this call. */
export type MemberVisit = Visit & { workspaceId: string; role: Role };

/** The visitor as operations take them. Operations check the rights again. */
export function doerOf({ person, workspaceId }: MemberVisit): MemberDoer {
  return { actor: person.email, workspaceId };
}

/** A refusal in the dashboard's own codes, with the wrong field. */
export type DashboardRefusal = Refusal<DashboardErrorCode> & { field?: string };

/** The contract's value with a header beside it, such as the cookie of a new session. */
export type WithHeaders<Value> = { told: Value; headers: Record<string, string> };

/** The contract's value, or a refusal. */
export type Told<Value> = Promise<Value | DashboardRefusal> | Value | DashboardRefusal;

const idPattern = /^[a-z]{2,4}_[0-9a-f]{32}$/;

/** An id in the path. A malformed one is looked up as an id that nothing has, so it looks like an unknown one. */
export function idIn(call: Call, name: string): string {
  const id = call.params[name] ?? "";
  return idPattern.test(id) ? id : "";
}

/** The parsed body, or a refusal that names the first wrong field. */
export function readForm<Form>(call: Call, form: z.ZodType<Form>): Form | DashboardRefusal {
  const json = parseJson(call.body);
  if (json === undefined) {
    return refuse("invalid_json", "The form could not be read. Load the page again.");
  }
  const parsed = form.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") ?? "";
  const message = issue?.message ?? "is not as it should be";
  return { refusal: "validation_error", message: `${field}: ${message}`, field };
}

/** Undefined when it is no JSON. */
function parseJson(body: Uint8Array): unknown {
  try {
    // No UTF-8 is no JSON either, and an empty form says nothing.
    return body.length === 0 ? {} : JSON.parse(textOf(body) ?? "");
  } catch {
    return undefined;
  }
}
