// Exports traces by OTLP, where a collector is named. Loaded only then, and with it all of OpenTelemetry. A collector that
// hangs or refuses costs traces and nothing else: the queue in front of it is bounded, and so is the wait at the end.

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { DiagLogLevel, diag } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { Tracer } from "../domain/tracer.ts";
import type { TracingSettings } from "../domain/tracing-settings.ts";
import { makeTracer } from "./otel-tracer.ts";

export type Tracing = {
  tracer: Tracer;
  /** Sends what is left, for a short time. */
  stop(): Promise<void>;
};

const flushMs = 2_000;
const tellEveryMs = 60_000;

export function openTracing(settings: TracingSettings, log: Logger): Tracing {
  const tell = makeTelling(log);
  const silent = () => {};
  // A setting of the exporter that it cannot use, and spans that were dropped. Failed exports are told of below.
  const warn = (words: string) => tell(wordsOfWarning(words));
  const words = { error: silent, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(words, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": "countersign" }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    sampler: samplerOf(settings),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellingOfFailures(new OTLPTraceExporter(), tell),
        maxQueueSize: settings.queueMax,
        maxExportBatchSize: settings.batchMax,
        scheduledDelayMillis: settings.delayMs,
        exportTimeoutMillis: settings.exportTimeoutMs,
      }),
    ],
  });
  log.info({ sampler: settings.sampler }, "traces are exported");
  return {
    tracer: makeTracer(provider.getTracer("countersign"), {
      takesTraceparent: settings.takesTraceparent,
      tell,
    }),
    stop: async () => {
      const flushed = provider.shutdown().catch(() => {});
      await Promise.race([flushed, pause(flushMs, undefined, { ref: false })]);
    },
  };
}

function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
    default:
      return sampler satisfies never;
  }
}

/** The answer of a collector isn't logged: it may quote what it was sent, and nobody knows how long it is. */
function tellingOfFailures(exporter: SpanExporter, tell: (why: string) => void): SpanExporter {
  return {
    export: (spans, onEnd) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) tell(wordsFor(result.error));
        onEnd(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * OpenTelemetry's own words, without what it quotes: that may be an address with its password. A part of it that warns
 * names itself first, and of those only the one that sends does.
 */
function wordsOfWarning(words: string): string {
  if (!words.includes(" ")) return "the collector's answer is not one of OTLP";
  return words.replace(/'.*/su, "…");
}

function wordsFor(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number") return `the collector answered ${code}`;
  return typeof code === "string" ? code : error.message;
}

/** One line a minute: a collector that is away is one fault, however many exports fail. */
function makeTelling(log: Logger): (why: string) => void {
  // An export begins in whatever call ended last, and is no part of its trace.
  const outside = AsyncLocalStorage.snapshot();
  let lastMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (why) => {
    const nowMs = performance.now();
    if (nowMs - lastMs < tellEveryMs) {
      untold += 1;
      return;
    }
    lastMs = nowMs;
    const facts = { why: why.slice(0, 300), untold };
    outside(() => log.warn(facts, "traces are being lost, or a setting is not used"));
    untold = 0;
  };
}
