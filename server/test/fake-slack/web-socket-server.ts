// The server's side of one WebSocket (RFC 6455), as far as Slack's Socket Mode needs it: text, ping, pong and close, no
// extensions.

import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;
const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const frameBytesMax = 1024 * 1024;

type Frame = { opcode: number; isLast: boolean; payload: Buffer; bytes: number };

/** Emits `message` with a text, and `close` once. */
export class ServerWebSocket extends EventEmitter<{ message: [string]; close: [] }> {
  readonly #socket: Duplex;
  #unread = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #isClosed = false;

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.emit("close");
    });
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#socket.writable;
  }

  send(text: string): void {
    this.#write(opcodes.text, Buffer.from(text));
  }

  ping(): void {
    this.#write(opcodes.ping, Buffer.from("Ping from fake Slack"));
  }

  /** With a handshake, as a server does that goes away in order. */
  close(code = 1000): void {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.#write(opcodes.close, payload);
    this.#socket.end();
  }

  /** Without a word, as a cut cable. */
  cut(): void {
    this.#socket.destroy();
  }

  #write(opcode: number, payload: Buffer): void {
    if (this.isOpen) this.#socket.write(Buffer.concat([headOf(opcode, payload.length), payload]));
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    for (;;) {
      const frame = readFrame(this.#unread);
      if (frame === "broken") this.cut();
      if (frame === null || frame === "broken") return;
      this.#unread = this.#unread.subarray(frame.bytes);
      this.#take(frame);
    }
  }

  #take({ opcode, isLast, payload }: Frame): void {
    if (opcode === opcodes.ping) this.#write(opcodes.pong, payload);
    else if (opcode === opcodes.close) {
      this.#write(opcodes.close, payload.subarray(0, 2));
      this.#socket.end();
    } else if (opcode === opcodes.text || opcode === opcodes.continuation) {
      this.#parts.push(payload);
      if (!isLast) return;
      const text = Buffer.concat(this.#parts).toString();
      this.#parts = [];
      this.emit("message", text);
    }
  }
}

/** Null when it is no proper WebSocket handshake. */
export function acceptWebSocket(request: IncomingMessage, socket: Duplex): ServerWebSocket | null {
  const key = request.headers["sec-websocket-key"];
  const isUpgrade = request.headers.upgrade?.toLowerCase() === "websocket";
  if (!isUpgrade || key === undefined || request.headers["sec-websocket-version"] !== "13") {
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    return null;
  }
  const accept = createHash("sha1")
    .update(key + magic)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  return new ServerWebSocket(socket);
}

function headOf(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  if (length < 65_536) return Buffer.from([first, 126, length >> 8, length & 255]);
  const head = Buffer.alloc(10);
  head.set([first, 127]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** Null while it is not whole. A client must mask what it sends. */
function readFrame(bytes: Buffer): Frame | null | "broken" {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < 2) return null;
  if ((second & 0x80) === 0 || (first & 0x70) !== 0) return "broken";
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + lengthBytes + 4) return null;
  const length =
    lengthBytes === 0
      ? short
      : lengthBytes === 2
        ? bytes.readUInt16BE(2)
        : Number(bytes.readBigUInt64BE(2));
  if (length > frameBytesMax) return "broken";
  const start = 2 + lengthBytes + 4;
  if (bytes.length < start + length) return null;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + length));
  for (let at = 0; at < length; at += 1) payload[at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return { opcode: first & 15, isLast: (first & 0x80) !== 0, payload, bytes: start + length };
}
