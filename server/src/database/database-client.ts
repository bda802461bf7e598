// The one kind of connection to PostgreSQL. Everything that connects makes its connections here.

import pg from "pg";

/** The commit is done, but nobody knows whether a synchronous standby has it: it could be lost with the primary. */
export class NotReplicated extends Error {
  override name = "NotReplicated";

  constructor() {
    super("a commit is in PostgreSQL, but the wait for its synchronous standby was cancelled");
  }
}

/** The function of PostgreSQL that waits for a standby. Its warnings have no code of their own, and are translated. */
const standbyWait = "SyncRepWaitForLSN";

const cancelMs = 2_000;

/** What pg doesn't declare. */
type Internals = {
  connection: pg.Connection & { stream: { destroy(): void } };
  processID: number | null;
  secretKey: number | null;
};

type CancelConnection = pg.Connection & {
  stream: { destroy(): void };
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/**
 * A connection whose loss never ends the process. Node ends a process at an "error" event that nobody listens to, and
 * pg-pool has no listener while it hands a connection over. The next statement on the connection reports the loss.
 */
export class DatabaseClient extends pg.Client {
  #isWaitCancelled = false;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on("error", () => {});
    this.on("notice", ({ routine }) => {
      if (routine === standbyWait) this.#isWaitCancelled = true;
    });
  }

  /** After each commit. PostgreSQL reports success, and says only in a warning that the standby wasn't waited for. */
  requireReplicated(): void {
    if (!this.#isWaitCancelled) return;
    this.#isWaitCancelled = false;
    throw new NotReplicated();
  }

  /**
   * Has PostgreSQL end the statement under way. A backend that waits for a standby notices neither its own time limit
   * nor that its client is gone, and would stay for as long as the standby is away.
   */
  async cancelStatement(): Promise<void> {
    const { processID, secretKey } = this as unknown as Internals;
    if (processID === null || secretKey === null) return;
    const messenger = new pg.Connection({ ssl: this.ssl }) as CancelConnection;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const impatience = setTimeout(resolve, cancelMs);
    messenger.on("error", () => resolve());
    messenger.on("end", () => resolve());
    const send = () => messenger.cancel(processID, secretKey);
    messenger.on("connect", () => (this.ssl ? messenger.requestSsl() : send()));
    messenger.on("sslconnect", send);
    if (this.host.startsWith("/")) messenger.connect(`${this.host}/.s.PGSQL.${this.port}`);
    else messenger.connect(this.port, this.host);
    await ended;
    clearTimeout(impatience);
    messenger.stream.destroy();
  }
}
