// What a fault of the database means: by PostgreSQL's codes, by those of sockets, and by pg's messages where there is no
// code.

import pg from "pg";
import { NotReplicated } from "./database-client.ts";
import { UnfitConnection } from "./session-settings.ts";

const goneSocketCodes = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EAI_NODATA",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
]);

/** The process or its machine has no descriptor, buffer or port left for another socket. */
const usedUpCodes = new Set(["EMFILE", "ENFILE", "ENOBUFS", "EADDRNOTAVAIL"]);

const lostSocketCodes = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "ENETRESET",
  "EPIPE",
  "ERR_STREAM_DESTROYED",
  // The queue of a UNIX socket is full.
  "EAGAIN",
]);

const unreachableSocketCodes = new Set([
  ...goneSocketCodes,
  ...usedUpCodes,
  ...lostSocketCodes,
  "ETIMEDOUT",
]);

// Messages of pg, without a code, when a connection can't be had, is lost, or doesn't answer.
const lostMessages =
  /Connection terminated unexpectedly|Client has encountered a connection error|Client was closed/;
const unconnectedMessages =
  /timeout exceeded when trying to connect|^timeout expired$|Connection terminated due to connection timeout/;
const unreachableMessages =
  /timeout exceeded when trying to connect|^timeout expired$|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed|There was an error establishing an SSL connection/;

/** Node's and OpenSSL's names for a certificate, or a way to encrypt, that doesn't do. */
const tlsCodes =
  /^(ERR_(TLS|SSL)_|EPROTO$|(CERT|CRL)_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH$|INVALID_(CA|PURPOSE)$)/;

/** More calls wait for the database than it could answer in time. */
export class DatabaseBusy extends Error {
  override name = "DatabaseBusy";
}

/** True when no connection can be had: the next caller would fail, too. A single lost connection doesn't prove that. */
export function isGone(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isGone);
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" && (goneSocketCodes.has(code) || code === "57P03");
}

/** True when the database can't be asked at present. Safe to retry later. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof DatabaseBusy || error instanceof NotReplicated) return true;
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach);
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    unreachableSocketCodes.has(code) ||
    // What Node asked of the network is refused, by a firewall perhaps.
    ("syscall" in error && (error.syscall === "connect" || error.syscall === "getaddrinfo")) ||
    // 08 connection, 53 resources, 57P operator intervention and start-up, 25006 read-only after a failover, 25P a
    // transaction that stood still for too long.
    /^(08|53|57P|25P0[34])/.test(code) ||
    code === "57014" ||
    code === "25006" ||
    unreachableMessages.test(error.message)
  );
}

/**
 * True when a connection was refused or lost, or leads to a server that takes no writes: the next one may lead to
 * another server, or to the same one after its start.
 */
export function isTurnedAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isTurnedAway);
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (goneSocketCodes.has(code) || lostSocketCodes.has(code)) return true;
  return /^(08...|57P0[123]|25006)$/.test(code) || lostMessages.test(error.message);
}

/**
 * True when a connection could not be had in good time. A load balancer whose server has just gone holds connections for
 * seconds, and the next attempt may lead to the new one.
 */
export function isUnconnected(error: unknown): boolean {
  return error instanceof Error && unconnectedMessages.test(error.message);
}

/**
 * True when a statement was certainly not done: PostgreSQL said, instead of an answer, that it ends the session or takes
 * no writes, or the statement could not be written to the socket to its end.
 */
export function isSurelyUndone(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return error.code === "57P01" || error.code === "25006" || error.code === "EPIPE";
}

/**
 * True when the database does not let us in. Class 28: wrong role or password. Class 3D: no such database.
 * 55000: it takes no connections. Or it and we don't agree about TLS.
 */
export function isSignInRefused(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(28|3D|55000)/.test(error.code ?? "");
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return tlsCodes.test(code) || /^SASL|^The server does not support SSL/.test(error.message);
}

/** True when a call failed because of the database and may be repeated later. */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof UnfitConnection ||
    isOutOfReach(error) ||
    isSignInRefused(error) ||
    isNotMigrated(error) ||
    isNotifyQueueFull(error)
  );
}

/** True when PostgreSQL found no room for what it had to write. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "53100";
}

/** True when a commit found no room for its announcement: a session that listens, of anybody's, keeps all since its own. */
export function isNotifyQueueFull(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === "54000" && error.routine === "PreCommit_Notify";
}

/** True when a role may write no more temporary files at a time, whatever room there is. */
export function isOverTempLimit(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "53400";
}

/** True when the schema is missing or older than this program: nobody has migrated yet. */
export function isNotMigrated(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === "42P01" || error.code === "42703" || error.code === "42883";
}

/** True when a unique constraint or index of this name refused the statement. */
export function isConflictOn(error: unknown, constraint: string): boolean {
  return (
    error instanceof pg.DatabaseError && error.code === "23505" && error.constraint === constraint
  );
}

export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "40P01";
}

/** The role lacks a right. */
export function isNotAllowed(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === "42501";
}

/** Class 22: a value that PostgreSQL cannot take. Class 23: a constraint that a row breaks. */
export function isRefusedByData(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? "");
}

/** True when a statement was cut off for taking too long: half as many rows may work. */
export function isTooSlow(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === "57014";
  return error instanceof Error && error.message === "Query read timeout";
}
