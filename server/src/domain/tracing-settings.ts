// Whether and how traces are exported, by OpenTelemetry's standard variables. The exporter itself reads those of the
// collector: its address, headers, certificates, compression and timeout. What neither can use is named at the start.

import { OperatorFault } from "./operator-fault.ts";

export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type TracingSettings = {
  sampler: (typeof samplers)[number];
  /** The share of traces that the samplers with a ratio record. */
  ratio: number;
  /** Traces of agents go on here. */
  takesTraceparent: boolean;
  /** Of the queue in front of the exporter. */
  queueMax: number;
  batchMax: number;
  delayMs: number;
  exportTimeoutMs: number;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Null when no collector is named, or traces are turned off. Then the other variables mean nothing, whatever they say. */
export function readTracingSettings(environment: Environment): TracingSettings | null {
  const read = (name: string, usual: string) => environment[name]?.trim() || usual;
  const endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
  const exporter = read("OTEL_TRACES_EXPORTER", "otlp");
  const isOff = read("OTEL_SDK_DISABLED", "false").toLowerCase() === "true" || exporter === "none";
  if (isOff || endpoints.every((name) => read(name, "") === "")) return null;

  // The exporter takes these as they are, so a blank around them counts.
  for (const name of endpoints) {
    const rule = read(name, "") === "" ? null : findAddressFault(environment[name] ?? "");
    if (rule !== null) refuse(name, rule);
  }
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base = "" } = environment;
  if (/[?#]/.test(base)) refuse("OTEL_EXPORTER_OTLP_ENDPOINT", "must have no ? or #");
  for (const name of ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"]) {
    if (!read(name, "").split(",").every(isHeader)) refuse(name, listRule);
  }
  if (!read("OTEL_RESOURCE_ATTRIBUTES", "").split(",").every(isAttribute)) {
    refuse("OTEL_RESOURCE_ATTRIBUTES", listRule);
  }
  if (exporter !== "otlp") refuse("OTEL_TRACES_EXPORTER", "must be otlp or none");
  const protocolName = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"].find(
    (name) => read(name, "") !== "",
  );
  if (protocolName !== undefined && read(protocolName, "") !== "http/protobuf") {
    refuse(protocolName, "must be http/protobuf, which collectors take on port 4318");
  }
  const wanted = read("OTEL_TRACES_SAMPLER", "parentbased_always_on");
  const sampler = samplers.find((name) => name === wanted);
  if (sampler === undefined) {
    return refuse("OTEL_TRACES_SAMPLER", `must be one of ${samplers.join(", ")}`);
  }
  const share = read("OTEL_TRACES_SAMPLER_ARG", "1");
  if (!/^(?:0|1|0?\.\d{1,12}|[01]\.0{1,12}|0\.\d{1,12})$/.test(share)) {
    refuse("OTEL_TRACES_SAMPLER_ARG", "must be a number from 0 to 1, such as 0.1");
  }
  const count = (name: string, usual: number, max: number) => {
    const text = read(name, String(usual));
    const value = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > max) refuse(name, `must be a whole number from 1 to ${max}`);
    return value;
  };
  const queueMax = count("OTEL_BSP_MAX_QUEUE_SIZE", 2_048, 100_000);
  return {
    sampler,
    ratio: Number(share),
    takesTraceparent: read("OTEL_PROPAGATORS", "tracecontext")
      .split(",")
      .some((name) => name.trim() === "tracecontext"),
    queueMax,
    batchMax: Math.min(queueMax, count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, 100_000)),
    delayMs: count("OTEL_BSP_SCHEDULE_DELAY", 5_000, 600_000),
    exportTimeoutMs: count("OTEL_BSP_EXPORT_TIMEOUT", 30_000, 600_000),
  };
}

/** Null if the exporter can use the address. */
function findAddressFault(text: string): string | null {
  if (/[\s\p{Cc}]/u.test(text)) return "must have no blanks or control characters";
  if (!(/^https?:\/\//i.test(text) && URL.canParse(text))) {
    return "must be an address that begins with http:// or https://";
  }
  const { username, password, hash } = new URL(text);
  if (hash !== "") return "must have no #";
  const isReadable = decode(username) !== null && decode(password) !== null;
  return isReadable ? null : "must have a percent-encoded name and password";
}

const listRule = "must be name=value, several with commas between them, the values percent-encoded";
/** Of OpenTelemetry. */
const attributeLengthMax = 255;

/** As the exporter reads a part of the list: what it can't read it leaves out, and the collector refuses all traces. */
function isHeader(part: string): boolean {
  if (part.trim() === "") return true;
  const [, name = "", value = ""] = /^([^=;]+)=([^;]+)$/.exec(part) ?? [];
  return (
    /^[!#$%&'*+.^_`|~\w-]+$/.test(decode(name.trim()) ?? "") &&
    /^[\t\x20-\x7e\x80-\xff]+$/.test(decode(value.trim()) ?? "")
  );
}

/** One that OpenTelemetry can't read costs all of them. */
function isAttribute(part: string): boolean {
  if (part.trim() === "") return true;
  const [name = "", value, ...more] = part.split("=");
  const isShort = (text: string | null) => text !== null && text.length <= attributeLengthMax;
  if (value === undefined || more.length > 0 || name.trim() === "") return false;
  return isShort(decode(name.trim())) && isShort(decode(value.trim()));
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A value is not repeated: an address may hold a password. */
function refuse(name: string, rule: string): never {
  throw new OperatorFault(`The configuration is not usable. ${name}: ${rule}.`);
}
