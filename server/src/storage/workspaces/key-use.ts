// Remembers which API keys calls came with, and has it written now and then: calls are too frequent to write a row for
// each. A process that crashes loses its last notes.

import { keyUseGatherMs, keyUseIntervalMs } from "../../domain/limits.ts";

export class KeyUse {
  readonly #write: (digests: Buffer[]) => Promise<void>;
  readonly #intervalMs: number;
  readonly #gatherMs: number;
  /** As text of one character for each byte: a buffer is no key of a map. */
  #digests = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    write: (digests: Buffer[]) => Promise<void>,
    { intervalMs = keyUseIntervalMs, gatherMs = keyUseGatherMs } = {},
  ) {
    this.#write = write;
    this.#intervalMs = intervalMs;
    this.#gatherMs = gatherMs;
  }

  note(digest: Buffer): void {
    this.#digests.add(digest.toString("latin1"));
    if (this.#timer !== null) return;
    const restMs = this.#writtenAtMs + this.#intervalMs - performance.now();
    this.#timer = setTimeout(() => void this.#flush(), Math.max(restMs, this.#gatherMs)).unref();
  }

  /** Writes the remaining notes, when no more calls come. */
  async stop(): Promise<void> {
    await this.#writing;
    await this.#flush();
  }

  #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writtenAtMs = performance.now();
    const digests = [...this.#digests];
    this.#digests = new Set();
    this.#writing = digests.length === 0 ? Promise.resolve() : this.#writeOrKeep(digests);
    return this.#writing;
  }

  /** While the database is out of reach, the notes are kept for the next time; no call fails for it. */
  async #writeOrKeep(digests: string[]): Promise<void> {
    try {
      await this.#write(digests.map((digest) => Buffer.from(digest, "latin1")));
    } catch {
      for (const digest of digests) this.#digests.add(digest);
    }
  }
}
