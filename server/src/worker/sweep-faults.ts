// The requests on which a sweep failed lately: it tells of each failure once, and leaves the request out for a while, so
// that the others have their turn.

import { faultPauseSeconds, faultsKeptMax } from "../domain/approval/voting-limits.ts";

export class SweepFaults {
  readonly #onFault: (error: unknown) => void;
  /** Until when each is left out. Kept for longer, so that the next failure isn't told again. */
  readonly #untilMs = new Map<string, number>();

  /** By absence. It is forgotten with the process, so the next one begins in front of what failed. */
  readonly #lookedUpTo = new Map<string, string>();

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  list(): string[] {
    const nowMs = performance.now();
    return [...this.#untilMs].filter(([, untilMs]) => untilMs > nowMs).map(([id]) => id);
  }

  note(id: string, error: unknown): void {
    if (!this.#untilMs.has(id)) this.#onFault(error);
    this.pause(id);
  }

  pause(id: string): void {
    keep(this.#untilMs, id, performance.now() + faultPauseSeconds * 1_000);
  }

  lookedUpTo(absenceId: string): string | null {
    return this.#lookedUpTo.get(absenceId) ?? null;
  }

  noteLookedUpTo(absenceId: string, approvalId: string | null): void {
    if (approvalId === null) this.#lookedUpTo.delete(absenceId);
    else keep(this.#lookedUpTo, absenceId, approvalId);
  }
}

function keep<Value>(kept: Map<string, Value>, id: string, value: Value): void {
  kept.delete(id);
  const [oldest] = kept.keys();
  if (kept.size >= faultsKeptMax && oldest !== undefined) kept.delete(oldest);
  kept.set(id, value);
}
