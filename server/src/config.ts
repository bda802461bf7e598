// The environment, read once and in this file alone. Every wrong value is named before anything starts.

import { resolve } from "node:path";
import pg from "pg";
import { z } from "zod";
import {
  type DatabaseAddresses,
  flawOfHosts,
  readDatabaseAddresses,
  splitAddress,
} from "./database/addresses.ts";
import { type Keyring, parseKeyring, parseSecretKeyIds } from "./domain/access/keyring.ts";
import {
  type MetricsSettings,
  metricsTokenPattern,
  readMetricsSettings,
} from "./domain/access/metrics-settings.ts";
import {
  type AllowedCidr,
  type Cidr,
  loopbackCidrs,
  nearbyCidrs,
  parseAllowedCidrs,
  parseCidrs,
} from "./domain/access/network-address.ts";
import { flawOfOidcIssuer, type OidcSettings } from "./domain/access/openid.ts";
import { requireOwnPorts } from "./domain/access/own-ports.ts";
import { isLoopbackHost, isLoopbackUrl } from "./domain/access/public-url.ts";
import type { RateLimit } from "./domain/access/rate-limit.ts";
import { webhookAttemptsMax } from "./domain/limits.ts";
import { flawOfSmtpUrl } from "./domain/mail/smtp-url.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import { parseWitnesses, type WitnessSetting } from "./domain/proof/witness-settings.ts";
import { readTracingSettings, type TracingSettings } from "./domain/tracing-settings.ts";
import { parseDurationsMs } from "./domain/workspace/duration.ts";
import { type Mailbox, parseMailbox } from "./domain/workspace/mailbox.ts";
import { flawOfName } from "./domain/workspace/name.ts";

export type Config = DatabaseAddresses & {
  host: string;
  port: number;
  publicUrl: string;
  databaseConnectionsMax: number;
  dataDir: string;
  /** Null means the one kept under dataDir; always there when databaseUrl is. */
  keyring: Keyring | null;
  /** Ids of keys that the operator has given up. */
  lostSecretKeyIds: readonly string[];
  rateLimit: RateLimit | null;
  /** Proxies whose X-Forwarded-For we trust. */
  trustedProxies: readonly Cidr[];
  role: Role;
  /** Where the probes are answered beside the service's own port; null means nowhere. */
  probePort: number | null;
  /** How long a process that was told to stop still serves, so that load balancers hear of it. */
  drainMs: number;
  /** Null means that mails are kept and shown at /dev/mail. */
  smtpUrl: string | null;
  mailFrom: Mailbox;
  /** Null means that people sign in by mail and passkey only. */
  oidc: OidcSettings | null;
  /** Private ranges that webhooks may reach. */
  webhookAllowed: readonly AllowedCidr[];
  /** Private ranges that callbacks may reach, which every API key can name. */
  callbackAllowed: readonly AllowedCidr[];
  /** The waits before the second attempt and the third. */
  webhookRetryDelaysMs: readonly number[];
  /** Where Slack's web API is called; ends with a slash. */
  slackApiUrl: string;
  /** Who cosigns the installation's log. */
  witnesses: readonly WitnessSetting[];
  /** Null means that nothing is measured. */
  metrics: MetricsSettings | null;
  /** Null when nothing is traced. */
  tracing: TracingSettings | null;
  logLevel: LogLevel;
  logFormat: "json" | "text";
};

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

const roles = ["all", "api", "worker"] as const;
export type Role = (typeof roles)[number];

/** Every variable with its meaning and default, as `countersign serve --help` prints them. */
export const variables: readonly (readonly [name: string, meaning: string])[] = [
  ["HOST, PORT", "where it listens (127.0.0.1, 3000)"],
  ["PUBLIC_URL", "what links in mails start with (http://localhost:$PORT)"],
  ["DATABASE_URL", "an external PostgreSQL, 14 or newer (none: an embedded one under DATA_DIR)"],
  [
    "DATABASE_DIRECT_URL",
    "the same database and role at PostgreSQL itself, where DATABASE_URL leads through a pooler such as PgBouncer; listening, workers and migrating need it (none: DATABASE_URL leads there)",
  ],
  [
    "DATABASE_OWNER_URL",
    "the same database as the role that owns its tables, for migrating alone; the role of DATABASE_URL then cannot change what is final (none: the role of DATABASE_URL owns them)",
  ],
  [
    "DATABASE_CONNECTIONS",
    "how many connections calls may take; a worker takes up to 6 more, and one listens (10)",
  ],
  ["DATA_DIR", "everything the embedded default keeps (./data)"],
  [
    "SECRET_KEY",
    "32 bytes in base64 that protect secrets at rest; a comma-separated list, newest first, allows rotation (made and kept under DATA_DIR; required with DATABASE_URL)",
  ],
  [
    "LOST_SECRET_KEYS",
    "ids of keys that are lost for good, as the refused start names them; what they protected is given up (none)",
  ],
  [
    "SMTP_URL",
    "the mail server, such as smtps://user:password@smtp.example or smtp://localhost:25 (none: mails are kept and shown at /dev/mail)",
  ],
  [
    "MAIL_FROM",
    "the sender, such as Countersign <approvals@example.com> (countersign@ the host of PUBLIC_URL)",
  ],
  [
    "OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET",
    "your company's identity provider, for signing in to the dashboard by OpenID Connect; all three or none (none)",
  ],
  ["OIDC_NAME", "what the button to sign in with it says (your company)"],
  [
    "OIDC_TRUST_EMAIL",
    "true takes addresses of which the provider does not say whether they are verified; only when the directory is yours and nobody in it can choose their address (false)",
  ],
  [
    "WEBHOOK_ALLOW_CIDRS",
    "private ranges that webhooks may reach, such as 10.0.0.0/8,::1/128 (none; loopback with the embedded PostgreSQL while PUBLIC_URL is this machine)",
  ],
  [
    "CALLBACK_ALLOW_CIDRS",
    "private ranges that callbacks may reach, for every API key can name them; plain http goes nowhere else (none; loopback with the embedded PostgreSQL while HOST and PUBLIC_URL are this machine)",
  ],
  ["WEBHOOK_RETRY_DELAYS", "waits before the second and the third attempt (30s,5m)"],
  ["SLACK_API_URL", "where Slack's web API is called, such as a proxy (https://slack.com/api/)"],
  [
    "WITNESSES",
    "who cosigns the log's checkpoints: the verifier key that countersign witness prints, a space, its address; several with commas (none)",
  ],
  [
    "TRUSTED_PROXIES",
    "addresses and ranges of the proxies in front whose X-Forwarded-For is believed, such as 10.0.0.5,fd00::/8; none believes nobody's (this machine and private networks)",
  ],
  ["ROLE", "what this process does: all, api or worker (all)"],
  [
    "PROBE_PORT",
    "where /healthz and /readyz are answered, and nothing else; for a worker, which has no other port (none)",
  ],
  [
    "DRAIN_SECONDS",
    "how long a process that was told to stop still serves while /readyz says 503, so that load balancers send nobody else (5; 0 with the embedded PostgreSQL)",
  ],
  [
    "METRICS_HOST, METRICS_PORT",
    "where /metrics for Prometheus is served by itself (127.0.0.1, none)",
  ],
  [
    "METRICS_TOKEN",
    "what a reader of /metrics sends as Authorization: Bearer; without METRICS_PORT, /metrics is then on the service's port (none)",
  ],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "where traces go by OTLP over HTTP; other standard OTEL_ variables hold, too (none: no traces)",
  ],
  ["RATE_LIMIT", "calls a second per API key, with a burst of twice that; 0 turns it off (100)"],
  ["LOG_LEVEL", `${logLevels.join(", ")} (info)`],
  ["LOG_FORMAT", "json, or text for people (text on a terminal, else json)"],
];

const burstSeconds = 2;

function wholeNumber(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, rule)
    .transform(Number)
    .refine((value) => value >= min && value <= max, rule);
}

const allowedCidrs = z
  .string()
  .transform(parseAllowedCidrs)
  .refine(isThere, "must be a list of ranges, such as 10.0.0.0/8,::1/128");

const connectionString = z
  .string()
  .regex(/^postgres(ql)?:\/\//, "must begin with postgres:// or postgresql://")
  .refine((text) => splitAddress(text).every(isConnectionString), "is not a connection string")
  .superRefine(refuseFlawedHosts);

const schema = z.object({
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: wholeNumber(0, 65_535).default(3000),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  DATABASE_URL: connectionString.optional(),
  DATABASE_DIRECT_URL: connectionString.optional(),
  DATABASE_OWNER_URL: connectionString.optional(),
  DATABASE_CONNECTIONS: wholeNumber(2, 1000).default(10),
  DATA_DIR: z.string().min(1).default("./data"),
  SECRET_KEY: z.string().optional(),
  LOST_SECRET_KEYS: z
    .string()
    .transform(parseSecretKeyIds)
    .refine(isThere, "must be a list of key ids, as the refused start names them")
    .optional(),
  RATE_LIMIT: wholeNumber(0, 1_000_000).default(100),
  TRUSTED_PROXIES: z
    .string()
    .transform((text) => (text.trim() === "none" ? [] : parseCidrs(text)))
    .refine(
      isThere,
      "must be a list of addresses and ranges, such as 10.0.0.5,fd00::/8, or the word none",
    )
    .optional(),
  DRAIN_SECONDS: wholeNumber(0, 300).optional(),
  PROBE_PORT: wholeNumber(0, 65_535).optional(),
  ROLE: z.enum(roles, "must be all, api or worker").default("all"),
  SMTP_URL: z.string().superRefine(refuseFlawedSmtpUrl).optional(),
  MAIL_FROM: z
    .string()
    .transform(parseMailbox)
    .refine(isThere, "must be one address, such as Countersign <approvals@example.com>")
    .optional(),
  OIDC_ISSUER: z.string().superRefine(refuseFlawedIssuer).optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_NAME: z.string().superRefine(refuseFlawedName).optional(),
  OIDC_TRUST_EMAIL: z.enum(["true", "false"], "must be true or false").optional(),
  WEBHOOK_ALLOW_CIDRS: allowedCidrs.optional(),
  CALLBACK_ALLOW_CIDRS: allowedCidrs.optional(),
  WEBHOOK_RETRY_DELAYS: z
    .string()
    .default("30s,5m")
    .transform(parseDurationsMs)
    .refine(
      (delays) => isThere(delays) && delays.length < webhookAttemptsMax,
      `must be at most ${webhookAttemptsMax - 1} durations, such as 30s,5m`,
    ),
  SLACK_API_URL: z
    .url({ protocol: /^https?$/, abort: true })
    .refine(
      (text) => text.startsWith("https://") || isLoopbackUrl(text),
      "must begin with https://, because tokens are sent there",
    )
    .default("https://slack.com/api/"),
  WITNESSES: z.string().transform(toWitnesses).optional(),
  METRICS_HOST: z.string().min(1).default("127.0.0.1"),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_TOKEN: z
    .string()
    .regex(metricsTokenPattern, "must be 16 to 200 characters without spaces: openssl rand -hex 32")
    .optional(),
  LOG_LEVEL: z.enum(logLevels).default("info"),
  LOG_FORMAT: z.enum(["json", "text"]).optional(),
});

export function readConfig(
  environment: Record<string, string | undefined> = process.env,
  isTerminal: boolean = process.stdout.isTTY === true,
): Config {
  const parsed = schema.safeParse(withoutEmpty(environment));
  if (!parsed.success) {
    const flaws = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new OperatorFault(`The configuration is not usable. ${flaws.join("; ")}.`);
  }
  const values = parsed.data;
  requireOwnPorts(values);
  const publicUrl = (values.PUBLIC_URL ?? `http://localhost:${values.PORT}`).replace(/\/+$/, "");
  const isTriedOut = values.DATABASE_URL === undefined && isLoopbackUrl(publicUrl);
  return {
    host: values.HOST,
    port: values.PORT,
    publicUrl,
    ...readDatabaseAddresses(values),
    databaseConnectionsMax: values.DATABASE_CONNECTIONS,
    dataDir: resolve(values.DATA_DIR),
    keyring: readKeyring(values.SECRET_KEY, values.DATABASE_URL),
    lostSecretKeyIds: values.LOST_SECRET_KEYS ?? [],
    rateLimit:
      values.RATE_LIMIT === 0
        ? null
        : { perSecond: values.RATE_LIMIT, burst: values.RATE_LIMIT * burstSeconds },
    trustedProxies: values.TRUSTED_PROXIES ?? nearbyCidrs,
    role: values.ROLE,
    probePort: values.PROBE_PORT ?? null,
    drainMs: (values.DRAIN_SECONDS ?? (values.DATABASE_URL === undefined ? 0 : 5)) * 1_000,
    smtpUrl: values.SMTP_URL ?? null,
    mailFrom: values.MAIL_FROM ?? {
      name: "Countersign",
      address: `countersign@${new URL(publicUrl).hostname}`,
    },
    oidc: readOidc(values),
    webhookAllowed: values.WEBHOOK_ALLOW_CIDRS ?? (isTriedOut ? loopbackCidrs : []),
    // Whoever can call a service that listens on this machine alone can call what else listens here, too.
    callbackAllowed:
      values.CALLBACK_ALLOW_CIDRS ??
      (isTriedOut && isLoopbackHost(values.HOST) ? loopbackCidrs : []),
    webhookRetryDelaysMs: values.WEBHOOK_RETRY_DELAYS ?? [],
    slackApiUrl: values.SLACK_API_URL.replace(/\/*$/, "/"),
    witnesses: values.WITNESSES ?? [],
    metrics: readMetricsSettings(values),
    tracing: readTracingSettings(environment),
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT ?? (isTerminal ? "text" : "json"),
  };
}

function readKeyring(text: string | undefined, databaseUrl: string | undefined): Keyring | null {
  const howTo = "make one with: openssl rand -base64 32";
  if (text === undefined) {
    if (databaseUrl === undefined) return null;
    throw new OperatorFault(`SECRET_KEY is required with DATABASE_URL; ${howTo}`);
  }
  const keyring = parseKeyring(text);
  if (keyring === null) {
    throw new OperatorFault(`SECRET_KEY must be 32 bytes in base64, or a list of such; ${howTo}`);
  }
  return keyring;
}

const oidcNameDefault = "your company";

function readOidc(values: {
  OIDC_ISSUER?: string | undefined;
  OIDC_CLIENT_ID?: string | undefined;
  OIDC_CLIENT_SECRET?: string | undefined;
  OIDC_NAME?: string | undefined;
  OIDC_TRUST_EMAIL?: string | undefined;
}): OidcSettings | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_NAME: name,
    OIDC_TRUST_EMAIL: trust,
  } = values;
  if (issuer !== undefined && clientId !== undefined && clientSecret !== undefined) {
    const isEmailTrusted = trust === "true";
    return { issuer, clientId, clientSecret, name: name ?? oidcNameDefault, isEmailTrusted };
  }
  if ([issuer, clientId, clientSecret, name, trust].every((value) => value === undefined))
    return null;
  const names = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] as const;
  const missing = names.filter((each) => values[each] === undefined);
  throw new OperatorFault(
    `${missing.join(", ")}: to sign in by OpenID Connect set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET; to do without it set none of them, nor OIDC_NAME or OIDC_TRUST_EMAIL.`,
  );
}

/** An empty variable counts as not set, as in `PORT= npm start`. */
function withoutEmpty(environment: Record<string, string | undefined>) {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
}

function isThere<Value>(value: Value | null): value is Value {
  return value !== null;
}

function toWitnesses(text: string, context: z.RefinementCtx): WitnessSetting[] {
  const witnesses = parseWitnesses(text);
  if (typeof witnesses !== "string") return witnesses;
  context.addIssue({ code: "custom", message: witnesses });
  return z.NEVER;
}

function refuseFlawedHosts(text: string, context: z.RefinementCtx): void {
  const flaw = flawOfHosts(text);
  if (flaw !== null) context.addIssue({ code: "custom", message: flaw });
}

function refuseFlawedSmtpUrl(text: string, context: z.RefinementCtx): void {
  const flaw = flawOfSmtpUrl(text);
  if (flaw !== null) context.addIssue({ code: "custom", message: flaw });
}

function refuseFlawedIssuer(text: string, context: z.RefinementCtx): void {
  const flaw = flawOfOidcIssuer(text);
  if (flaw !== null) context.addIssue({ code: "custom", message: flaw });
}

function refuseFlawedName(text: string, context: z.RefinementCtx): void {
  const flaw = flawOfName(text);
  if (flaw !== null) context.addIssue({ code: "custom", message: flaw });
}

function isConnectionString(text: string): boolean {
  try {
    return new pg.Client({ connectionString: text }).host !== "";
  } catch {
    return false;
  }
}
