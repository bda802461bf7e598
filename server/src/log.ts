// The log: one JSON object per line for machines, or one short line per entry for a person at a terminal.

import pg from "pg";
import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./config.ts";
import { traceFacts } from "./database/current-span.ts";
import { isNotifyQueueFull } from "./database/faults.ts";

export function openLog(options: {
  level: LogLevel;
  format: "json" | "text";
  /** Lines of a call or an attempt name its trace. */
  isTraced?: boolean;
  destination?: DestinationStream;
}): Logger {
  const { level, format, isTraced = false, destination = process.stdout } = options;
  const settings = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeFault },
    ...(isTraced ? { mixin: traceFacts } : {}),
  };
  return format === "json"
    ? pino(settings, destination)
    : pino(settings, { write: (line) => destination.write(toText(line)) });
}

/**
 * The part of a fault that may be logged. PostgreSQL quotes the failing row or value in its messages, which may be a
 * body, so only the code and the names of its errors are kept. What it says of its own state quotes no row.
 */
function describeFault(fault: unknown): object {
  if (fault instanceof pg.DatabaseError) {
    const { code, severity, table, column, constraint, routine, message, hint } = fault;
    const names = { type: "DatabaseError", code, severity, table, column, constraint, routine };
    const isSafe = quotesNoRow.test(code ?? "") || isNotifyQueueFull(fault);
    return isSafe ? { ...names, message, hint } : names;
  }
  if (!(fault instanceof Error)) return { type: typeof fault };
  const code = "code" in fault ? fault.code : undefined;
  return { type: fault.name, code, message: fault.message, stack: fault.stack };
}

/** Connections, resources, operator intervention, read-only, and a refused sign-in. */
const quotesNoRow = /^(08|28|53|57P|25006|3D)/;

const usualFields = new Set(["level", "time", "msg", "method", "route", "status", "ms", "err"]);

function toText(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const time = String(entry.time).slice(11, 19);
  const level = entry.level === "info" ? "" : `${String(entry.level)} `;
  const what =
    entry.method === undefined
      ? String(entry.msg)
      : `${entry.method} ${entry.route} ${entry.status} ${entry.ms} ms`;
  const rest = Object.entries(entry)
    .filter(([name]) => !usualFields.has(name))
    .map(([name, value]) => `${name}=${String(value)}`);
  const fault = entry.err === undefined ? [] : [JSON.stringify(entry.err)];
  return `${[`${time} ${level}${what}`, ...rest, ...fault].join("  ")}\n`;
}
