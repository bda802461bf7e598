// Where webhooks and mails arrive, in a process of its own: counts them, and notes how old each event was when the whole
// of it had come. `/hang` takes what it is sent and never answers.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Arrivals, ReceiverQuestion } from "./receiver-process.ts";

let arrivals = noArrivals();

const web = createServer((request, response) => {
  if (request.url === "/hang") request.resume();
  else readWhole(request, (body) => note(body, response));
});
const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  logger: false,
  onData(stream, _session, done) {
    stream.resume().on("end", () => {
      arrivals.mails += 1;
      done();
    });
  },
});
mail.on("error", () => {});

function readWhole(request: IncomingMessage, then: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () =>
    then(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
  );
}

function note(body: Buffer, response: ServerResponse): void {
  const now = performance.timeOrigin + performance.now();
  arrivals.webhooks += 1;
  arrivals.lastAt = now;
  if (arrivals.webhooks === 1) arrivals.firstAt = now;
  // The beginning of a body is {"event":"request.created","createdAt":"2026-01-02T03:04:05.678Z",…
  const beginning = body.toString("latin1", 0, 100);
  const at = /"createdAt":"([^"]+)"/.exec(beginning)?.[1];
  if (at !== undefined) arrivals.agesMs.push(now - Date.parse(at));
  response.end();
}

function noArrivals(): Arrivals {
  return { webhooks: 0, mails: 0, firstAt: 0, lastAt: 0, agesMs: [] };
}

process.on("message", (question: ReceiverQuestion) => {
  if (question === "start again") arrivals = noArrivals();
  process.send?.(answerOf(question));
});

function answerOf(question: ReceiverQuestion): unknown {
  switch (question) {
    case "start again":
      return null;
    case "how many webhooks":
      return arrivals.webhooks;
    case "what has arrived":
      return arrivals;
    default:
      return question satisfies never;
  }
}
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

web.listen(0, "127.0.0.1", () => {
  mail.listen(0, "127.0.0.1", () => {
    const { port } = web.address() as AddressInfo;
    const mailPort = (mail.server.address() as AddressInfo).port;
    process.send?.({ port, mailPort });
  });
});
