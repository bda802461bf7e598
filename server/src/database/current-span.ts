// The piece of work on whose behalf the database is asked, for those who trace. It travels with a call, as its holder does.
// Where nobody traces there is none, and nothing is kept.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Span, SpanEnd } from "../domain/tracer.ts";

const spans = new AsyncLocalStorage<Span | null>();

export function currentSpan(): Span | null {
  return spans.getStore() ?? null;
}

export function inSpan<Result>(span: Span | null, work: () => Result): Result {
  return span === currentSpan() ? work() : spans.run(span, work);
}

/** Work that begins by itself. It answers how it ended; null if there was nothing to do. */
export async function inOwnSpan(
  span: Span | null,
  work: () => Promise<SpanEnd | null>,
): Promise<void> {
  let end: SpanEnd | null = { fault: "unexpected" };
  try {
    end = await inSpan(span, work);
  } finally {
    span?.end(end ?? {});
  }
}

/** Asks the database as a part of the current work. What is asked is named, or is what pg gets to run. */
export function asked<Result>(
  what: string | readonly unknown[],
  ask: () => Promise<Result>,
): Promise<Result> {
  const work = currentSpan();
  if (work === null) return ask();
  const span = work.ask(typeof what === "string" ? what : nameOfStatement(what));
  return span === null ? ask() : askedIn(span, ask);
}

async function askedIn<Result>(span: Span, ask: () => Promise<Result>): Promise<Result> {
  try {
    const result = await inSpan(span, ask);
    span.end({});
    return result;
  } catch (error) {
    span.end({ fault: codeOf(error) });
    throw error;
  }
}

/** A statement for several calls is a part of each that is traced. */
export function sharedSpan(calls: readonly { span: Span | null }[]): Span | null {
  const traced = calls.flatMap(({ span }) => span ?? []);
  return joined(traced, calls.length);
}

function joined(spans: readonly Span[], sharedBy: number): Span | null {
  const [first = null] = spans;
  if (first === null || sharedBy === 1) return first;
  return {
    traceId: null,
    ask: (statement) => {
      const parts = spans.flatMap((span) => span.ask(statement, sharedBy) ?? []);
      return joined(parts, sharedBy);
    },
    end: (end) => {
      for (const span of spans) span.end(end);
    },
  };
}

/** Ours have names. Of others the first word is told, never more: a text might hold a value. */
function nameOfStatement([first]: readonly unknown[]): string {
  if (typeof first === "string") return firstWordOf(first);
  const { name, text } = first as { name?: string; text?: string };
  return name ?? firstWordOf(text ?? "");
}

function firstWordOf(text: string): string {
  return /^\s*([a-z]{1,20})\b/i.exec(text)?.[1]?.toLowerCase() ?? "statement";
}

/** PostgreSQL quotes values in its messages, so only codes and names are told. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** What the log's lines of this work have in common. */
export function traceFacts(): { trace_id?: string } {
  const traceId = currentSpan()?.traceId ?? null;
  return traceId === null ? {} : { trace_id: traceId };
}
