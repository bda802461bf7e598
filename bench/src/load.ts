// The load generator, a process of its own: closed-loop clients, each sending its next call when the
// last one is answered. It speaks just enough HTTP/1.1 to cost little beside the service it measures.

import { connect } from "node:net";
import type { HttpLoad, HttpOnceLoad, Load, LoadResult, NoteCall } from "./load-process.ts";
import { loopPosts } from "./post-loop.ts";
import { loopStatements } from "./statement-loop.ts";

process.on("message", async (load: Load) => {
  try {
    process.send?.(await measure(load));
  } catch (error) {
    process.send?.({ fault: error instanceof Error ? error.message : String(error) });
  }
});
// Ctrl-C reaches every process of the terminal; the one that started this ends it.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

async function measure(load: Load): Promise<LoadResult> {
  const isOnce = load.kind === "http once" || (load.kind === "statements" && load.isOnce);
  const startedAt = performance.now();
  const begins = isOnce ? startedAt : startedAt + ("rampMs" in load ? load.rampMs : 0);
  const ends = isOnce
    ? Number.POSITIVE_INFINITY
    : begins + ("measureMs" in load ? load.measureMs : 0);
  const latencies: number[] = [];
  await run(load, (sentAt) => {
    const now = performance.now();
    if (now >= begins && now < ends) latencies.push(now - sentAt);
    return now < ends;
  });
  const measuredMs = isOnce ? performance.now() - startedAt : ends - begins;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) => latencies[Math.floor(q * latencies.length)] ?? Number.NaN;
  const perSecond = (latencies.length * 1000) / measuredMs;
  return { perSecond, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

function run(load: Load, record: NoteCall): Promise<unknown> {
  switch (load.kind) {
    case "statements":
      return loopStatements(load, record);
    case "posts":
      return loopPosts(load, record);
    case "http":
      return runClients(load, { isOnce: false, gapMs: gapOf(load) }, record);
    case "http once":
      return runClients(load, { isOnce: true, gapMs: 0 }, record);
    default:
      return load satisfies never;
  }
}

function gapOf({ perSecondMax, clients }: HttpLoad): number {
  return perSecondMax === null ? 0 : (1000 * clients) / perSecondMax;
}

type Manner = {
  isOnce: boolean;
  /** A client sends no more often than this. */
  gapMs: number;
};

function runClients(
  load: HttpLoad | HttpOnceLoad,
  { isOnce, gapMs }: Manner,
  record: NoteCall,
): Promise<unknown> {
  const requests = load.requests.map((request) => Buffer.from(request));
  let turn = 0;
  function next(): Buffer | null {
    if (isOnce && turn === requests.length) return null;
    return requests[turn++ % requests.length] ?? null;
  }
  const startedAt = performance.now();
  return Promise.all(
    Array.from({ length: load.clients }, (_, index) => {
      // Clients that keep a pace start one after the other.
      let dueAt = startedAt + (gapMs * index) / load.clients;
      function pauseMs(): number {
        const ms = dueAt - performance.now();
        dueAt += gapMs;
        return gapMs === 0 ? 0 : ms;
      }
      return runClient(load, { next, pauseMs }, record);
    }),
  );
}

function runClient(
  load: HttpLoad | HttpOnceLoad,
  { next, pauseMs }: { next: () => Buffer | null; pauseMs: () => number },
  record: NoteCall,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let answer = noAnswer;
    function sendInTime(): void {
      const ms = pauseMs();
      if (ms > 0) setTimeout(send, ms);
      else send();
    }
    function send(): void {
      const request = next();
      if (request === null) return void socket.end();
      answer = noAnswer;
      sentAt = performance.now();
      socket.write(request);
    }
    function receive(chunk: Buffer): void {
      answer = answerWith(answer, chunk);
      if (answer.bytesLeft > 0) return;
      if (answer.status !== load.status) {
        socket.destroy(new Error(`the service answered ${answer.head.slice(0, 400)}`));
      } else if (record(sentAt)) {
        sendInTime();
      } else {
        socket.end();
      }
    }
    const socket = connect({ host: "127.0.0.1", port: load.port, noDelay: true }, sendInTime);
    socket.on("data", receive).on("error", reject).on("close", resolve);
  });
}

type PartialAnswer = { head: string; status: number; bytesLeft: number };
const noAnswer: PartialAnswer = { head: "", status: 0, bytesLeft: Number.POSITIVE_INFINITY };

/** A client has one call under way, so all arriving bytes belong to its answer. */
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
