// Many messages in one block of bytes. A log has millions of them, and an object for each would cost more than its hash.

import type { Bytes } from "./bytes.ts";

const encoder = new TextEncoder();
/** A character of a text takes at most so many bytes of UTF-8. */
const bytesOfCharacterMax = 3;

export class Messages {
  #block: Bytes;
  #used = 0;
  readonly #ends: number[] = [];

  constructor(bytesExpected = 1_024) {
    this.#block = new Uint8Array(bytesExpected);
  }

  get count(): number {
    return this.#ends.length;
  }

  /** Adds to the message that is being written. `end` begins the next. */
  addText(text: string): this {
    this.#makeRoom(text.length * bytesOfCharacterMax);
    this.#used += encoder.encodeInto(text, this.#block.subarray(this.#used)).written;
    return this;
  }

  addBytes(bytes: Uint8Array): this {
    this.#makeRoom(bytes.length);
    this.#block.set(bytes, this.#used);
    this.#used += bytes.length;
    return this;
  }

  end(): void {
    this.#ends.push(this.#used);
  }

  /** A view: its bytes are those of the block. */
  at(index: number): Bytes {
    return this.#block.subarray(this.#ends[index - 1] ?? 0, this.#ends[index]);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#block.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#block.length * 2));
    larger.set(this.#block.subarray(0, this.#used));
    this.#block = larger;
  }
}
