// Lets other work of this process come in while texts are searched: however much there is, nobody waits for all of it.

import { setImmediate as otherWork } from "node:timers/promises";
import { searchPieceCharacters } from "../../domain/limits.ts";
import type { Steps } from "../../domain/search/searched-texts.ts";

/** For many small texts as for a long one. */
export class Pace {
  #characters = 0;

  async finish<Result>(steps: Steps<Result>): Promise<Result> {
    // A text without characters is work, too.
    this.#characters += emptyCharacters;
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      this.#characters += step.value + emptyCharacters;
      if (this.#characters < searchPieceCharacters) continue;
      this.#characters = 0;
      await otherWork();
    }
  }
}

/** Roughly what a text takes by itself, in characters. */
const emptyCharacters = 30;
