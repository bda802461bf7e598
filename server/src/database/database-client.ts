// The one kind of connection to PostgreSQL. Everything that connects makes its connections here.

import pg from "pg";

/**
 * A connection whose loss never ends the process. Node ends a process at an "error" event that nobody listens to, and
 * pg-pool has no listener while it hands a connection over. The next statement on the connection reports the loss.
 */
export class DatabaseClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on("error", () => {});
  }
}
