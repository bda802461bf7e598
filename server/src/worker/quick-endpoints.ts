// Knows which endpoints answer so soon that more may be claimed for them: most of their claimed deliveries are then not
// in flight, but wait to be recorded. It knows only this process's answers. An unknown endpoint counts as slow.

import { endpointsRememberedMax, quickAnswerMs } from "../domain/limits.ts";

/** The weight of one answer in the average: about the last dozen answers matter. */
const weight = 0.15;

export class QuickEndpoints {
  readonly #averageMs = new Map<string, number>();

  note(endpointId: string, answer: { isDelivered: boolean; durationMs: number }): void {
    if (!answer.isDelivered) {
      this.#averageMs.delete(endpointId);
      return;
    }
    const { durationMs } = answer;
    const before = this.#averageMs.get(endpointId);
    if (before === undefined && this.#averageMs.size >= endpointsRememberedMax) {
      this.#averageMs.clear();
    }
    const average = before === undefined ? durationMs : before + weight * (durationMs - before);
    this.#averageMs.set(endpointId, average);
  }

  list(): string[] {
    const quick: string[] = [];
    for (const [id, averageMs] of this.#averageMs) if (averageMs <= quickAnswerMs) quick.push(id);
    return quick;
  }
}
