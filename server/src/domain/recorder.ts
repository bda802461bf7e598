// What the service tells of its own work, for those who measure it. Routes, channels, outcomes and figures only: nothing
// of a workspace. Null wherever it is handed down means that nobody measures, and then nothing is counted.

export type Recorder = {
  /** A call was answered, or its caller left. `isWait`: it asked to be kept waiting, so its time says nothing. */
  called(call: CalledRoute): void;
  /** An attempt of a delivery, or a try of a message, has ended and was recorded. */
  attempted(channel: string, outcome: string): void;
  /** The first attempt of a delivery begins, this long after the event was committed. */
  begunAfter(channel: string, ms: number): void;
  /** An attempt ended, but another worker had taken it over. */
  lostLease(channel: string): void;
  /** One statement was run for this many calls. */
  gathered(statement: GatheredStatement, items: number): void;
};

export type CalledRoute = {
  method: string;
  /** The pattern, never the path. */
  route: string;
  status: number;
  ms: number;
  isWait: boolean;
};

export type GatheredStatement = "create" | "read" | "receipt" | "attempt";
