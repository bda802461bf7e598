// Answers for what Node cannot even read as HTTP: broken lines, headers too large, bodies that never end.

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { Answer } from "./call.ts";
import { problem } from "./problems.ts";

/** Node could not read the request at all, so there is no reply to use: the answer is written by hand. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { line, answer } = brokenRequestAnswer(error.code);
  const body = answer.body ?? "";
  socket.end(
    `HTTP/1.1 ${line}\r\nX-Request-Id: ${randomUUID()}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function brokenRequestAnswer(code: string | undefined): { line: string; answer: Answer } {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return {
      line: "408 Request Timeout",
      answer: problem(
        "request_timeout",
        "The request did not arrive whole in time. Send it again.",
      ),
    };
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return {
      line: "431 Request Header Fields Too Large",
      answer: problem("validation_error", "The address and headers of this request are too large."),
    };
  }
  return {
    line: "400 Bad Request",
    answer: problem("validation_error", "This is not a well-formed HTTP request."),
  };
}
