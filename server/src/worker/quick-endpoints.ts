// Which endpoints answer so soon that more may be claimed for them: most of what they have under way is then not on its
// way to them, but waits to be recorded. As far as this process has seen; whoever is unknown counts as slow.

import { endpointsRememberedMax, quickAnswerMs } from "../domain/limits.ts";

/** What one answer counts in the average: about the last dozen of them matter. */
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
