// The inner side of a process in which one contender does the job: opened once, then asked to measure again and again.
// Closed-loop clients, each beginning its next job when the last one is done, in the process of the contender itself.

export type Connection = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
};

/** The input of every contender; each takes what it needs. */
export type Setup = {
  /** A PostgreSQL of the contender's own. For Countersign, the one of the service. */
  connection: Connection;
  /** The address to call over HTTP, if there is one. */
  service: { port: number; apiKey: string; secretKey: string };
  /** JSON of what is to be approved. */
  body: string;
};

export type Contender = {
  /** With its version. */
  name: string;
  /** Where the same contender can be called over HTTP besides; null where it cannot. */
  port: number | null;
  /** Creates an approval, reads it, resolves it and checks that the waiting code got the answer. Throws if not. */
  runJob(client: number): Promise<void>;
  close(): Promise<void>;
};

/** Jobs that are only done, for a contender to have done some before it is measured. */
export type History = { clients: number; jobs: number };
/** Jobs are done from the start, and counted once the ramp is over. */
export type Pace = { clients: number; rampMs: number; measureMs: number };
export type JobResult = { perSecond: number; p50Ms: number; p99Ms: number };

export type Order = { open: Setup } | { makeHistory: History } | { measure: Pace };
export type Opened = Pick<Contender, "name" | "port">;
export type Report =
  | { opened: Opened }
  | { madeHistory: true }
  | { measured: JobResult }
  | { fault: string };

export const readsPerJob = 5;
/** As many as the service has by default. */
export const connectionsMax = 10;
export const decision = { verdict: "approve", byEmail: "ann.reviewer@example.com" };

export function serveOrders(open: (setup: Setup) => Promise<Contender>): void {
  let contender: Contender | null = null;

  async function carryOut(order: Order): Promise<Report> {
    if ("open" in order) {
      contender = await open(order.open);
      return { opened: { name: contender.name, port: contender.port } };
    }
    if (contender === null) throw new Error("nothing was opened");
    if ("makeHistory" in order) {
      await makeHistory(contender, order.makeHistory);
      return { madeHistory: true };
    }
    return { measured: await measure(contender, order.measure) };
  }

  process.on("message", async (order: Order) => {
    let report: Report;
    try {
      report = await carryOut(order);
    } catch (error) {
      report = { fault: error instanceof Error ? error.message : String(error) };
    }
    if (process.connected) process.send?.(report);
  });
  // Ctrl-C reaches every process of the terminal; the one that started this ends it, by disconnecting.
  process.on("SIGINT", () => {});
  process.on("disconnect", async () => {
    try {
      await contender?.close();
    } finally {
      process.exit();
    }
  });
}

async function makeHistory(contender: Contender, { clients, jobs }: History): Promise<void> {
  let begun = 0;
  async function runClient(client: number): Promise<void> {
    while (begun < jobs) {
      begun += 1;
      await contender.runJob(client);
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)));
}

/** A job at the edge of the time that counts is counted in part: slow jobs that all end together are not lost. */
async function measure(contender: Contender, { clients, rampMs, measureMs }: Pace) {
  const begins = performance.now() + rampMs;
  const ends = begins + measureMs;
  const latencies: number[] = [];
  let jobs = 0;
  function note(startedAt: number, endedAt: number): void {
    const countedMs = Math.min(endedAt, ends) - Math.max(startedAt, begins);
    if (countedMs <= 0) return;
    jobs += countedMs / (endedAt - startedAt);
    latencies.push(endedAt - startedAt);
  }
  async function runClient(client: number): Promise<void> {
    for (let startedAt = performance.now(); startedAt < ends; ) {
      await contender.runJob(client);
      const endedAt = performance.now();
      note(startedAt, endedAt);
      startedAt = endedAt;
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)));
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) => latencies[Math.floor(q * latencies.length)] ?? Number.NaN;
  return { perSecond: (jobs * 1000) / measureMs, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}
