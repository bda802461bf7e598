// The protocol over standard input and output, a message a line. The library's own transport would round numbers and keep
// the last of two keys before anybody could refuse them, so lines are read here, as bodies are over HTTP.

import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type Transport,
} from "@modelcontextprotocol/server";
import { invalidRequest, type MessageRefusal, readMessage } from "./message-text.ts";

export type StdioStreams = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream };

/** Closes by itself when the client closes its end, or sends a line that is too long to be a message. */
export function makeStdioTransport({ input, output }: StdioStreams): Transport {
  let unread: Buffer[] = [];
  let unreadBytes = 0;
  let isClosed = false;

  const transport: Transport = {
    start: async () => {
      input.on("data", take);
      input.on("end", close);
      input.on("close", close);
      input.on("error", tell);
      // A client that no longer reads is gone. Without a listener the process would end with a stack trace.
      output.on("error", close);
    },
    send: (message) => write(message),
    close: async () => close(),
  };
  return transport;

  function take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const line = Buffer.concat(unread);
      unread = [];
      unreadBytes = 0;
      if (!isClosed) receive(line);
    }
    keep(chunk.subarray(start));
  }

  function keep(bytes: Buffer): void {
    unread.push(bytes);
    unreadBytes += bytes.length;
    if (unreadBytes <= STDIO_DEFAULT_MAX_BUFFER_SIZE || isClosed) return;
    tell(new Error(`A message may have at most ${STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes.`));
    close();
  }

  function receive(line: Buffer): void {
    const text = textOf(line);
    // Some programs end a message with an empty line.
    if (text?.trim() === "") return;
    const read = readMessage(text);
    const message = "message" in read ? checked(read.message) : null;
    if (message !== null) transport.onmessage?.(message);
    else refuse("refused" in read ? read.refused : noMessage);
  }

  function refuse({ code, message, id }: MessageRefusal): void {
    tell(new Error(message));
    write({ jsonrpc: "2.0", id, error: { code, message } }).catch(tell);
  }

  function write(message: object): Promise<void> {
    if (isClosed) return Promise.reject(new Error("The client has closed the connection."));
    return new Promise((resolve, reject) => {
      output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  function tell(error: Error): void {
    transport.onerror?.(error);
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    unread = [];
    input.off("data", take);
    input.pause();
    transport.onclose?.();
  }
}

const lineFeed = 0x0a;
const noMessage = { code: invalidRequest, message: "This is no message of JSON-RPC.", id: null };
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Null if it isn't UTF-8. */
function textOf(line: Buffer): string | null {
  try {
    return utf8.decode(line);
  } catch {
    return null;
  }
}

function checked(message: object): JSONRPCMessage | null {
  try {
    return parseJSONRPCMessage(message);
  } catch {
    return null;
  }
}
