// Answers requests that Node can't parse as HTTP: broken lines, headers too large, bodies that never end.

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { brokenConnectionLingerMs } from "../../domain/limits.ts";
import { envelope } from "./problems.ts";

/** Node could not parse the request, so there is no reply object: the answer is written by hand. */
export function makeBrokenRequestAnswer(log: Logger) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const { line, body } = answerOf(error.code);
    log.info({ requestId, status: Number(line.slice(0, 3)), code: error.code }, "broken call");
    socket.end(
      `HTTP/1.1 ${line}\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
    // The answer must reach a caller that is still sending, and no caller may hold the connection, or a body, for
    // itself.
    setTimeout(() => socket.destroy(), brokenConnectionLingerMs).unref();
  };
}

function answerOf(code: string | undefined): { line: string; body: string } {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return {
      line: "408 Request Timeout",
      body: envelope("request_timeout", "The request did not arrive whole in time. Send it again."),
    };
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return {
      line: "431 Request Header Fields Too Large",
      body: envelope("validation_error", "The address and headers of this request are too large."),
    };
  }
  return {
    line: "400 Bad Request",
    body: envelope("validation_error", "This is not a well-formed HTTP request."),
  };
}
