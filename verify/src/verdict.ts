// What a command says: for people, for programs, and as the exit code.

export type Verdict = {
  /** 0 valid, 1 not valid, 2 can't tell. */
  exitCode: 0 | 1 | 2;
  lines: string[];
  data: unknown;
};
