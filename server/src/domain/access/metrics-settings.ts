// How /metrics is served: on a port of its own, on the service's with a token, or not at all.

import { OperatorFault } from "../operator-fault.ts";

/** Without a port of their own they are read on the service's, with the token. */
export type MetricsSettings = { host: string; port: number | null; token: string | null };

export const metricsTokenPattern = /^[!-~]{16,200}$/;

type Values = {
  METRICS_HOST: string;
  METRICS_PORT?: number | undefined;
  METRICS_TOKEN?: string | undefined;
  ROLE: string;
};

/** Null when nothing is to be measured. */
export function readMetricsSettings(values: Values): MetricsSettings | null {
  const { METRICS_HOST: host, METRICS_PORT: port = null, METRICS_TOKEN: token = null } = values;
  if (port === null && token === null) return null;
  if (port !== null || values.ROLE !== "worker") return { host, port, token };
  throw new OperatorFault(
    "METRICS_TOKEN: a process with ROLE=worker serves no calls; set METRICS_PORT, too.",
  );
}
