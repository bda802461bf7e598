import assert from "node:assert/strict";
import { test } from "node:test";
import { readTracingSettings, samplers } from "./tracing-settings.ts";

const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

test("nothing is traced unless a collector is named and nothing turns it off", () => {
  for (const environment of [
    {},
    { OTEL_TRACES_EXPORTER: "otlp", OTEL_SERVICE_NAME: "x" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: " " },
    { ...collector, OTEL_SDK_DISABLED: "True" },
    { ...collector, OTEL_TRACES_EXPORTER: "none" },
    // What is turned off may be as wrong as it likes.
    { OTEL_EXPORTER_OTLP_ENDPOINT: "wrong", OTEL_SDK_DISABLED: "true" },
    { OTEL_TRACES_SAMPLER: "wrong" },
  ]) {
    assert.equal(readTracingSettings(environment), null, JSON.stringify(environment));
  }
  const settings = readTracingSettings({ ...collector, OTEL_SDK_DISABLED: "no" });
  assert.deepEqual(settings, {
    ...{ sampler: "parentbased_always_on", ratio: 1, takesTraceparent: true },
    ...{ queueMax: 2_048, batchMax: 512, delayMs: 5_000, exportTimeoutMs: 30_000 },
  });
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "HTTPS://collector/own" };
  assert.notEqual(readTracingSettings(own), null);
});

test("samplers, propagators and the queue are read as the standard names them", () => {
  const read = (more: Record<string, string>) => readTracingSettings({ ...collector, ...more });
  for (const sampler of samplers) {
    assert.equal(read({ OTEL_TRACES_SAMPLER: sampler })?.sampler, sampler);
  }
  for (const [text, ratio] of Object.entries({ "0": 0, "0.25": 0.25, ".5": 0.5, "1.0": 1 })) {
    assert.equal(read({ OTEL_TRACES_SAMPLER_ARG: text })?.ratio, ratio);
  }
  const takes = (text: string) => read({ OTEL_PROPAGATORS: text })?.takesTraceparent;
  assert.deepEqual(
    [takes("none"), takes("b3"), takes("baggage, tracecontext")],
    [false, false, true],
  );
  const small = read({ OTEL_BSP_MAX_QUEUE_SIZE: "10", OTEL_BSP_SCHEDULE_DELAY: "50" });
  assert.deepEqual([small?.queueMax, small?.batchMax, small?.delayMs], [10, 10, 50]);
});

test("a value that cannot be used is named, and never repeated", () => {
  for (const [name, values] of Object.entries({
    OTEL_EXPORTER_OTLP_ENDPOINT: [
      ...["hush", "hush:4318", "http://", "ftp://hush", "http://hush:x"],
      // The exporter takes a blank for a part of the address, and names that in the log with its password.
      ...["http://user:hush@collector:4318 ", " http://hush", "http://hu\tsh", "http://hush\n"],
      ...["http://user:hush%zz@collector", "http://hush%@collector"],
      // The path is appended, and would be a part of these.
      ...["http://collector?key=hush", "http://collector/#hush"],
    ],
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ["//hush", "grpc://hush", "http://hush ", "http://hush#x"],
    OTEL_EXPORTER_OTLP_HEADERS: [
      ...["hush", "=hush", "hush=", "a=b,hush", "x=%zz-hush", "x=hush%0Amore", "x=hu\nsh"],
      ...["x hush=y", "h%C3%BCsh=hush", "x=hush%E2%82%AC", "x=hush;more"],
    ],
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: ["hush"],
    OTEL_RESOURCE_ATTRIBUTES: [
      ...["hush", "a=b,hush", "=hush", "a=hush=b", "a=%zz-hush", `a=${"hush".repeat(64)}`],
    ],
    OTEL_TRACES_EXPORTER: ["hush", "otlp,hush"],
    OTEL_EXPORTER_OTLP_PROTOCOL: ["grpc", "http/json", "hush"],
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ["grpc"],
    OTEL_TRACES_SAMPLER: ["hush", "ALWAYS_ON"],
    OTEL_TRACES_SAMPLER_ARG: ["-1", "1.1", "2", "hush", "1e-1", "Infinity"],
    OTEL_BSP_MAX_QUEUE_SIZE: ["0", "-1", "1.5", "hush", "100001"],
    OTEL_BSP_EXPORT_TIMEOUT: ["0"],
  })) {
    for (const value of values) {
      const environment = { ...collector, [name]: value };
      assert.throws(
        () => readTracingSettings(environment),
        (error: Error) =>
          error.name === "OperatorFault" &&
          error.message.includes(` ${name}: must `) &&
          !error.message.includes("hush"),
        `${name}=${value}`,
      );
    }
  }
});

test("addresses and headers of a collector are taken as the exporter can send them", () => {
  for (const [name, values] of Object.entries({
    OTEL_EXPORTER_OTLP_ENDPOINT: ["http://user:p%40ss@collector:4318/base/", "https://collector"],
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ["https://collector/v1/traces?key=x"],
    OTEL_RESOURCE_ATTRIBUTES: ["", "a=b, c=d%2Ce,", "deployment.environment.name=prod", "a="],
    OTEL_EXPORTER_OTLP_HEADERS: ["", " ", "a=b", "a=b, c=d=e,", "authorization=Basic%20YQ%3D%3D"],
  })) {
    for (const value of values) {
      const settings = readTracingSettings({ ...collector, [name]: value });
      assert.notEqual(settings, null, `${name}=${value}`);
    }
  }
});
