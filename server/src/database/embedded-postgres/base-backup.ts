// A copy of the running cluster, as PostgreSQL itself makes it for a new replica: one tar with the files and all of the
// write-ahead log that makes them whole. The service goes on meanwhile. PostgreSQL checks every page as it reads it.

import type pg from "pg";
import { DatabaseClient } from "../database-client.ts";
import type { Connection } from "./session.ts";

// PostgreSQL knows the words of this protocol in capitals only.

/** Only for this connection's lifetime: what was written since the beginning is kept until the copy has it. */
const keepLog = "CREATE_REPLICATION_SLOT countersign_backup TEMPORARY PHYSICAL RESERVE_WAL";
const copy =
  "BASE_BACKUP (LABEL 'countersign', PROGRESS false, CHECKPOINT 'fast', WAL true, MANIFEST 'no')";

/** The copy is read as fast as its reader takes it. One at a time: the slot's name is taken by the first. */
export async function* readBaseBackup(superuser: Connection): AsyncGenerator<Buffer> {
  const client = new DatabaseClient({
    ...superuser,
    application_name: "countersign backup",
    ...{ replication: "true" },
  });
  await client.connect();
  try {
    await client.query(keepLog);
    yield* client.query(new TarCopy()).chunks();
  } finally {
    // If the reader has left, this hangs up in the middle of the copy.
    await client.end();
  }
}

/** What is kept of a stream whose reader is slower. */
const waitingBytesMax = 4 * 1024 * 1024;

/** The statement as pg wants it: it is told of every message that PostgreSQL answers with. */
class TarCopy implements pg.Submittable {
  #connection: pg.Connection | null = null;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #fault: Error | null = null;
  #isOver = false;
  #wake = () => {};

  submit(connection: pg.Connection): void {
    this.#connection = connection;
    connection.query(copy);
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#connection?.stream.resume();
      yield* waiting;
      if (this.#waiting.length > 0) continue;
      if (this.#fault !== null) throw this.#fault;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** One byte says what it is: a new archive (there is only one), data of it, or how far it is. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (chunk[0] !== dataKind) return;
    // The buffer is the parser's, which writes over it.
    this.#waiting.push(Buffer.from(chunk.subarray(1)));
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > waitingBytesMax) this.#connection?.stream.pause();
    this.#wake();
  }

  handleError(error: Error): void {
    this.#fault = error;
    this.#wake();
  }

  handleReadyForQuery(): void {
    this.#isOver = true;
    this.#wake();
  }

  // Positions in the write-ahead log, and the list of table spaces, of which we have none.
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
}

const dataKind = "d".charCodeAt(0);
