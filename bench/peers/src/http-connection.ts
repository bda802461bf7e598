// One kept-alive HTTP/1.1 connection with one call under way at a time. It speaks just enough of the protocol to cost
// little beside the server that is measured: answers must carry their length.

import { connect, type NetConnectOpts, type Socket } from "node:net";

export type HttpAnswer = { status: number; head: string; body: string };
type Waiting = { resolve(answer: HttpAnswer): void; reject(error: Error): void };

const headEndMark = "\r\n\r\n";

export class HttpConnection {
  readonly #socket: Socket;
  readonly #headers: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | null = null;

  /** The headers go with every call. */
  constructor(address: NetConnectOpts, headers: Record<string, string>) {
    const lines = Object.entries({ host: "localhost", ...headers });
    this.#headers = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    this.#socket = connect({ noDelay: true, ...address });
    this.#socket.on("data", (chunk) => this.#receive(chunk));
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Rejects any answer but one of the status that is expected. */
  async call(method: string, path: string, expected: number, body = ""): Promise<HttpAnswer> {
    const type = body === "" ? "" : "content-type: application/json\r\n";
    const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
    const answer = await new Promise<HttpAnswer>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\n${this.#headers}${type}${length}\r\n${body}`,
      );
    });
    if (answer.status === expected) return answer;
    throw new Error(
      `${method} ${path} was answered ${answer.status}: ${answer.body.slice(0, 400)}`,
    );
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(headEndMark);
    if (headEnd === -1) return;
    const head = this.#received.toString("latin1", 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#fail(new Error(`an answer without length: ${head}`));
      return;
    }
    const bodyStart = headEnd + headEndMark.length;
    if (this.#received.length < bodyStart + Number(length)) return;
    const body = this.#received.toString("utf8", bodyStart);
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/** As many connections as there are clients, each opened when its client comes first or finds it closed by the server. */
export class HttpConnections {
  readonly #open: () => HttpConnection;
  readonly #opened: HttpConnection[] = [];

  constructor(address: NetConnectOpts, headers: Record<string, string> = {}) {
    this.#open = () => new HttpConnection(address, headers);
  }

  of(client: number): HttpConnection {
    let connection = this.#opened[client];
    if (connection === undefined || connection.isClosed) {
      connection = this.#open();
      this.#opened[client] = connection;
    }
    return connection;
  }

  close(): void {
    for (const connection of this.#opened) connection.close();
  }
}
