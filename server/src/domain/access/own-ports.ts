// The ports that a process takes. Two of them that are the same would fail as "in use", which sends an operator to look for
// another process.

import { OperatorFault } from "../operator-fault.ts";

type Values = {
  HOST: string;
  PORT: number;
  PROBE_PORT?: number | undefined;
  METRICS_HOST: string;
  METRICS_PORT?: number | undefined;
  ROLE: string;
};

/** A worker serves no calls, so PORT means nothing there. The system chooses different ports for 0. */
export function requireOwnPorts(values: Values): void {
  const { HOST, PORT, PROBE_PORT = 0, METRICS_HOST, METRICS_PORT = 0, ROLE } = values;
  const port = ROLE === "worker" ? 0 : PORT;
  const isShared =
    HOST === METRICS_HOST || [HOST, METRICS_HOST].some((host) => everywhere.has(host));
  refuseSame(["PROBE_PORT", PROBE_PORT], ["PORT", port]);
  if (!isShared) return;
  refuseSame(["METRICS_PORT", METRICS_PORT], ["PORT", port]);
  refuseSame(["METRICS_PORT", METRICS_PORT], ["PROBE_PORT", PROBE_PORT]);
}

const everywhere = new Set(["0.0.0.0", "::"]);

function refuseSame([name, port]: [string, number], [otherName, other]: [string, number]): void {
  if (port === 0 || port !== other) return;
  throw new OperatorFault(`${name}: ${port} is ${otherName}, too; each needs a port of its own.`);
}
