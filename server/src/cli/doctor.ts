// countersign doctor: checks everything that a working service needs, and says how to fix the rest.

import { Command } from "commander";
import type { Database } from "../database/database.ts";
import { compareSchema } from "../database/migrations.ts";
import { flawOfKeyring } from "../domain/access/keyring.ts";
import { flawOfPublicUrl } from "../domain/access/public-url.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { toTerminalText } from "../domain/shown/text/visible-text.ts";
import * as slackConnections from "../storage/channels/slack-connections.ts";
import { listSecretKeyIds } from "../storage/deliveries/endpoints.ts";
import { examineRole, flawOfRole } from "../storage/service-rights.ts";
import type { Store } from "../storage/store.ts";
import { type CommandConfig, openCommandStore, type ReadCommandConfig } from "./command.ts";
import { examineMail } from "./doctor-mail.ts";
import { examineSignIn } from "./doctor-sign-in.ts";
import { examineWitnesses } from "./doctor-witnesses.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

const postgresVersionMin = 140_000;
const clockSkewMsMax = 2_000;
const publicUrlTimeoutMs = 5_000;

export function doctorCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("doctor")
    .description(
      "check the database, its schema, the clocks, the public URL, mail and the company sign-in",
    )
    .option("--json", "print JSON, for machines");
  return command.action(async () => {
    const findings = await examine(readConfig());
    const isJson = command.opts().json === true;
    process.stdout.write(`${isJson ? JSON.stringify(findings) : toText(findings)}\n`);
    const failed = findings.filter(({ state }) => state === "failed");
    if (failed.length > 0) {
      throw new OperatorFault(
        `${failed.length} check(s) failed: ${failed.map(({ check }) => check).join(", ")}`,
      );
    }
  });
}

async function examine(config: CommandConfig): Promise<Finding[]> {
  // First, because a busy process would look like a skew of the clocks.
  const database = await examineDatabase(config);
  const [publicUrl, mail, signIn] = await Promise.all([
    examinePublicUrl(config.publicUrl),
    examineMail(config),
    examineSignIn(config.oidc),
  ]);
  const callbacks = examineCallbacks(config);
  return [
    ...database,
    publicUrl,
    ...examineScheme(config.publicUrl),
    mail,
    ...callbacks,
    ...signIn,
  ];
}

async function examineDatabase(config: CommandConfig): Promise<Finding[]> {
  const store = await openCommandStore(config);
  try {
    const version = await examineVersion(store.db);
    const schema = await examineMigrations(store.db);
    const clock = await examineClock(store.db);
    // Without the schema there is nothing to check.
    const rest =
      schema.state === "ok"
        ? [
            await examineServiceRole(store.db),
            ...(await examineSecretKeys(store)),
            ...(await examineSlack(store.db)),
            ...(await examineWitnesses(store.db, config.witnesses)),
          ]
        : [];
    return [version, schema, clock, ...rest];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [
      failed(
        "database",
        `cannot be asked: ${why}. Check DATABASE_URL and whether PostgreSQL runs.`,
      ),
    ];
  } finally {
    await store.close();
  }
}

async function examineServiceRole(db: Database): Promise<Finding> {
  const standing = await examineRole(db);
  const flaw = flawOfRole(standing);
  return flaw === null
    ? ok("role", `the service runs as ${standing.role}, which cannot change what is final`)
    : warning("role", flaw);
}

/** Prints only problems. With a key missing no server starts, and a running one can't deliver. */
async function examineSecretKeys({ db, keyring }: Store): Promise<Finding[]> {
  const inUse = await listSecretKeyIds(db);
  const flaw = flawOfKeyring(keyring, inUse);
  if (flaw !== null) return [failed("secret key", flaw)];
  const givenUp = inUse.filter((id) => keyring.lost?.includes(id));
  if (givenUp.length === 0) return [];
  return [
    warning(
      "secret key",
      `secrets of endpoints, callbacks or channels, or links of open requests were made with a key that is given up (${givenUp.join(", ")}); rotate these secrets: countersign webhook rotate --help, countersign workspace callback-secret --help, countersign slack connect --help; connect Teams again`,
    ),
  ];
}

/** Prints only connections that Slack no longer takes: their people are asked by mail alone. */
async function examineSlack(db: Database): Promise<Finding[]> {
  const connections = await slackConnections.list(db);
  return connections.flatMap(({ workspaceId, teamName, brokenReason }) =>
    brokenReason === null
      ? []
      : [
          warning(
            "Slack",
            `the connection of ${workspaceId} to ${toTerminalText(teamName)} is broken (${brokenReason}), so people are asked by mail; connect it again: countersign slack connect --workspace ${workspaceId}`,
          ),
        ],
  );
}

async function examineVersion(db: Database): Promise<Finding> {
  const { rows } = await db.query<{ number: number; name: string }>(
    "select current_setting('server_version_num')::integer as number, current_setting('server_version') as name",
  );
  const { number = 0, name = "unknown" } = rows[0] ?? {};
  return number >= postgresVersionMin
    ? ok("database", `PostgreSQL ${name} answers`)
    : failed("database", `PostgreSQL ${name} is too old; 14 or newer is needed`);
}

async function examineMigrations(db: Database): Promise<Finding> {
  const { missing, unknown, beyond } = await compareSchema(db);
  if (missing.length > 0) {
    return failed("schema", `lacks ${missing.join(", ")}; run \`countersign migrate\``);
  }
  if (unknown.length === 0) return ok("schema", "up to date");
  const newer = `newer than this program by ${unknown.join(", ")}`;
  return beyond.length === 0
    ? warning("schema", `${newer}, and works beside it; upgrade this program soon`)
    : failed("schema", `${newer}, and doesn't work beside it; upgrade this program`);
}

/** All times are the database's. Receivers compare the time of a signature with their own. */
async function examineClock(db: Database): Promise<Finding> {
  const before = Date.now();
  const { rows } = await db.query<{ now: Date }>("select clock_timestamp() as now");
  const here = (before + Date.now()) / 2;
  const skewMs = Math.round((rows[0]?.now.getTime() ?? 0) - here);
  return Math.abs(skewMs) <= clockSkewMsMax
    ? ok("clock", `this machine and the database agree (${skewMs} ms apart)`)
    : warning(
        "clock",
        `the database's clock is ${skewMs} ms off this machine's; synchronise both by NTP`,
      );
}

async function examinePublicUrl(publicUrl: string): Promise<Finding> {
  const url = `${publicUrl}/healthz`;
  const advice = "Links in mails will begin with PUBLIC_URL; set it to what approvers can open.";
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(publicUrlTimeoutMs) });
    const body: unknown = await response.json();
    const isOurs =
      typeof body === "object" && body !== null && "status" in body && body.status === "ok";
    return isOurs
      ? ok("public URL", `${url} answers`)
      : failed("public URL", `${url} answers, but not as this service. ${advice}`);
  } catch {
    return warning(
      "public URL",
      `${url} does not answer from here; is the server running? ${advice}`,
    );
  }
}

/** Prints only problems. Without https a link can be read on its way, and the page takes no decision. */
function examineScheme(publicUrl: string): Finding[] {
  const flaw = flawOfPublicUrl(publicUrl);
  return flaw === null ? [] : [warning("https", flaw)];
}

/** Prints only exceptions: no admin looks at an address before it is called. */
function examineCallbacks({ callbackAllowed }: CommandConfig): Finding[] {
  if (callbackAllowed.length === 0) return [];
  const ranges = callbackAllowed.map(([base, bits]) => `${base}/${bits}`).join(", ");
  const detail = `every API key can have outcomes POSTed into ${ranges}; CALLBACK_ALLOW_CIDRS names the ranges`;
  return [ok("callbacks", detail)];
}

function toText(findings: Finding[]): string {
  const marks = { ok: "ok     ", warning: "warning", failed: "FAILED " };
  return findings
    .map(({ check, state, detail }) => `${marks[state]}  ${check}: ${detail}`)
    .join("\n");
}
