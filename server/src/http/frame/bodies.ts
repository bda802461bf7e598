// Reads the bodies of requests. Small ones are read from everybody. For a large one, the route must know the caller,
// and there must be room among all bodies that this process holds.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { FastifyRequest } from "fastify";
import { bodyWaitMs, smallBodyBytesMax } from "../../domain/limits.ts";
import type { Answer } from "./call.ts";
import type { FairBudget, Lease } from "./fair-budget.ts";
import { problem } from "./problems.ts";
import type { Admission } from "./route.ts";

/** Stops reading the body and answers with this. */
export class BodyRefused extends Error {
  override name = "BodyRefused";
  readonly answer: Answer;

  constructor(answer: Answer) {
    super("the body was not read");
    this.answer = answer;
  }
}

/** The caller left, or was cut off, before its body was complete. */
export class BodyCutOff extends Error {
  override name = "BodyCutOff";
}

export type BodyReaderOptions = {
  bodies: FairBudget;
  /** A caller that doesn't read its answers may not send large bodies, since their answers are as large. */
  answers: FairBudget;
  admit: (request: FastifyRequest) => Promise<Admission>;
  /** Sends the interim answer that some callers wait for before they send a large body. */
  invite: (request: IncomingMessage) => void;
};

type Done = (error: Error | null, body?: Buffer) => void;

export type BodyReader = ReturnType<typeof makeBodyReader>;

export function makeBodyReader({ bodies, answers, admit, invite }: BodyReaderOptions) {
  /** Held until the handler has ended, because it works on the body. */
  const leases = new WeakMap<FastifyRequest, Lease>();

  async function makeRoom(request: FastifyRequest, announced: number): Promise<void> {
    const limit = request.routeOptions.bodyLimit;
    const admission = await admit(request);
    if ("refused" in admission) throw new BodyRefused(admission.refused);
    if (announced > limit) throw tooLarge(limit);
    const { socket } = request.raw;
    // A call from within the service has its body in memory already, where it was counted when it came.
    if (!(socket instanceof Socket)) return;
    const { holder } = admission;
    if (answers.isOverShare(holder, 1)) throw noRoom(true);
    const bytes = Number.isNaN(announced) ? limit : announced;
    const lease = await waitForRoom(bodies, { holder, bytes, socket });
    if (lease === null) throw noRoom(bodies.isOverShare(holder, bytes));
    leases.set(request, lease);
  }

  function read(request: FastifyRequest, _payload: unknown, done: Done): void {
    const { raw } = request;
    const limit = request.routeOptions.bodyLimit;
    const smallMax = Math.min(limit, smallBodyBytesMax);
    const announced = Number(request.headers["content-length"]);
    const chunks: Buffer[] = [];
    let received = 0;
    let hasRoom = false;

    const end = (error: Error | null) => {
      raw.off("data", onData).off("end", onEnd).off("error", onCutOff);
      if (error === null) return done(null, Buffer.concat(chunks, received));
      leases.get(request)?.release();
      // The rest is dropped. Node does that by itself only if nothing was read yet.
      raw.resume();
      done(error);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      chunks.push(chunk);
      if (received <= smallMax) return;
      if (!hasRoom) askForRoom();
      else if (received > limit) end(tooLarge(limit));
    };
    const onEnd = () => {
      const isAsAnnounced = Number.isNaN(announced) || announced === received;
      end(isAsAnnounced ? null : wrongLength());
    };
    const onCutOff = () => end(new BodyCutOff("the body was cut off"));
    const goOn = () => {
      hasRoom = true;
      if (raw.destroyed) return onCutOff();
      if (received > limit) return end(tooLarge(limit));
      invite(raw);
      raw.on("data", onData).on("end", onEnd).on("error", onCutOff).resume();
    };
    const askForRoom = () => {
      raw.off("data", onData).off("end", onEnd).off("error", onCutOff).pause();
      makeRoom(request, announced).then(goOn, end);
    };

    if (announced > smallMax) {
      askForRoom();
    } else {
      invite(raw);
      raw.on("data", onData).on("end", onEnd).on("error", onCutOff).resume();
    }
  }

  return {
    read,
    /** Call it once nobody works on the body any more. */
    forget(request: FastifyRequest): void {
      leases.get(request)?.release();
      request.body = undefined;
    },
    wasLarge: (request: FastifyRequest) => leases.has(request),
  };
}

/** Callers that send Expect: 100-continue are told to send only once their body is to be read. */
export function makeInvitations(server: Server) {
  const awaiting = new WeakMap<IncomingMessage, ServerResponse>();
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    awaiting.set(request, response);
    // A refused caller sends no body, and nothing else may be taken for it.
    response.shouldKeepAlive = false;
    server.emit("request", request, response);
  });
  return {
    invite(request: IncomingMessage): void {
      const response = awaiting.get(request);
      if (response === undefined) return;
      awaiting.delete(request);
      response.shouldKeepAlive = true;
      response.writeContinue();
    },
    isAwaited: (request: IncomingMessage) => awaiting.has(request),
  };
}

type Wish = { holder: string; bytes: number; socket: Socket };

/** Null when there is no room in time, or the caller left. */
async function waitForRoom(
  budget: FairBudget,
  { holder, bytes, socket }: Wish,
): Promise<Lease | null> {
  const taken = budget.take(holder, bytes);
  if (taken !== null) return taken;
  const giveUp = new AbortController();
  const onEnd = () => giveUp.abort();
  const timer = setTimeout(onEnd, bodyWaitMs);
  socket.once("close", onEnd);
  try {
    return await budget.wait(holder, bytes, giveUp.signal);
  } finally {
    clearTimeout(timer);
    socket.off("close", onEnd);
  }
}

function tooLarge(limit: number): BodyRefused {
  return new BodyRefused(problem("body_too_large", `The body may have at most ${limit} bytes.`));
}

function wrongLength(): BodyRefused {
  return new BodyRefused(
    problem("validation_error", "The body is shorter or longer than Content-Length says."),
  );
}

function noRoom(isOwnDoing: boolean): BodyRefused {
  const after = "Wait for the seconds in Retry-After, then send it again.";
  return new BodyRefused(
    isOwnDoing
      ? problem("rate_limited", `Too many large bodies of this workspace are under way. ${after}`, {
          "retry-after": String(retrySeconds),
        })
      : problem("unavailable", `Too many large bodies are under way. ${after}`),
  );
}

const retrySeconds = 2;
