// Wakes somebody at given times. Times close to each other share one timer, so that ten thousand retries that
// are due at about the same moment cost one.

const granuleMs = 100;
const ahead = 2_147_483_647;

export class Alarms {
  readonly #onAlarm: () => void;
  readonly #timers = new Map<number, NodeJS.Timeout>();

  constructor(onAlarm: () => void) {
    this.#onAlarm = onAlarm;
  }

  set(inMs: number): void {
    const at = Math.ceil((performance.now() + Math.min(inMs, ahead - granuleMs)) / granuleMs);
    if (this.#timers.has(at)) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(at);
        this.#onAlarm();
      },
      at * granuleMs - performance.now(),
    );
    this.#timers.set(at, timer.unref());
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
