// Reads the header by which a caller names its own trace (W3C Trace Context). A malformed one counts as none. Its state
// of vendors (`tracestate`) is not read: it would bring the words of strangers into what is exported.

import { type SpanContext, TraceFlags } from "@opentelemetry/api";

const form =
  /^(?<version>(?!ff)[\da-f]{2})-(?<traceId>(?!0{32})[\da-f]{32})-(?<spanId>(?!0{16})[\da-f]{16})-(?<flags>[\da-f]{2})(?<rest>-.*)?$/;

export function parseTraceparent(header: string | undefined): SpanContext | null {
  const { version, traceId, spanId, flags, rest } = form.exec(header ?? "")?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === "00" && rest !== undefined) return null;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return { traceId, spanId, traceFlags, isRemote: true };
}
