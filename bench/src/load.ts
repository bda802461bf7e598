// The load generator, a process of its own: closed-loop clients, each sending its next call when the
// last one is answered. It speaks just enough HTTP/1.1 to cost little beside the service it measures.

import { connect } from "node:net";
import type { HttpLoad, LoadResult, NoteCall, Pace, StatementLoad } from "./load-process.ts";
import { loopStatements } from "./statement-loop.ts";

process.on("message", async (load: HttpLoad | StatementLoad) => {
  try {
    process.send?.(await measure(load, (record) => run(load, record)));
  } catch (error) {
    process.send?.({ fault: error instanceof Error ? error.message : String(error) });
  }
});
// Ctrl-C reaches every process of the terminal; the one that started this ends it.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

function run(load: HttpLoad | StatementLoad, record: NoteCall): Promise<unknown> {
  if (load.kind === "statements") return loopStatements(load, record);
  const requests = load.requests.map((request) => Buffer.from(request));
  let turn = 0;
  const next = () => requests[turn++ % requests.length] ?? Buffer.alloc(0);
  return Promise.all(Array.from({ length: load.clients }, () => runClient(load, next, record)));
}

async function measure(
  { rampMs, measureMs }: Pace,
  work: (record: NoteCall) => Promise<unknown>,
): Promise<LoadResult> {
  const begins = performance.now() + rampMs;
  const ends = begins + measureMs;
  const latencies: number[] = [];
  await work((sentAt) => {
    const now = performance.now();
    if (now >= begins && now < ends) latencies.push(now - sentAt);
    return now < ends;
  });
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) => latencies[Math.floor(q * latencies.length)] ?? Number.NaN;
  const perSecond = (latencies.length * 1000) / measureMs;
  return { perSecond, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

function runClient(load: HttpLoad, next: () => Buffer, record: NoteCall): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let answer = noAnswer;
    function send(): void {
      answer = noAnswer;
      sentAt = performance.now();
      socket.write(next());
    }
    function receive(chunk: Buffer): void {
      answer = answerWith(answer, chunk);
      if (answer.bytesLeft > 0) return;
      if (answer.status !== load.status) {
        socket.destroy(new Error(`the service answered ${answer.head.slice(0, 400)}`));
      } else if (record(sentAt)) {
        send();
      } else {
        socket.end();
      }
    }
    const socket = connect({ host: "127.0.0.1", port: load.port, noDelay: true }, send);
    socket.on("data", receive).on("error", reject).on("close", resolve);
  });
}

type PartialAnswer = { head: string; status: number; bytesLeft: number };
const noAnswer: PartialAnswer = { head: "", status: 0, bytesLeft: Number.POSITIVE_INFINITY };

/** A client has one call under way, so whatever arrives belongs to its answer. */
function answerWith(before: PartialAnswer, chunk: Buffer): PartialAnswer {
  if (before.status !== 0) return { ...before, bytesLeft: before.bytesLeft - chunk.length };
  const head = before.head + chunk.toString("latin1");
  const headEnd = head.indexOf("\r\n\r\n");
  if (headEnd === -1) return { ...before, head };
  const bodyBytes = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
  return {
    head,
    status: Number(head.slice(9, 12)),
    bytesLeft: headEnd + 4 + bodyBytes - head.length,
  };
}
