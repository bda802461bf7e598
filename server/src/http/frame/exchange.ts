// Between Fastify and our handlers: makes a call of a request, and sends an answer with a reply.

import type { FastifyReply, FastifyRequest } from "fastify";
import { callerAddressOf } from "../../domain/access/caller-address.ts";
import type { Cidr } from "../../domain/access/network-address.ts";
import {
  type Answer,
  type Call,
  type Caller,
  jsonType,
  type Reader,
  repeated,
  type StreamedAnswer,
} from "./call.ts";
import type { Route } from "./route.ts";

declare module "fastify" {
  interface FastifyRequest {
    keyDigest: Buffer;
    charge: Call["charge"];
    facts: Call["facts"];
  }
  interface FastifyContextConfig {
    /** Missing when no route matched. */
    route?: Route;
  }
}

const noQuery = new URLSearchParams();
const noBody = new Uint8Array();

export function toCall(
  request: FastifyRequest,
  reply: FastifyReply,
  trustedProxies: readonly Cidr[],
): Call {
  const { params, query, header } = toReader(request);
  return {
    requestId: request.id,
    isHead: request.method === "HEAD",
    keyDigest: request.keyDigest,
    charge: request.charge,
    params,
    query,
    body: request.body instanceof Uint8Array ? request.body : noBody,
    header,
    // Made on demand: few calls need it.
    get address() {
      return addressOf(request, trustedProxies);
    },
    // Made on demand: few calls wait so long that their caller may leave.
    get signal() {
      const controller = new AbortController();
      if (reply.raw.destroyed) controller.abort();
      else reply.raw.once("close", () => controller.abort());
      return controller.signal;
    },
    facts: request.facts,
  };
}

export function toReader(request: FastifyRequest): Reader {
  const queryStart = request.url.indexOf("?");
  return {
    params: request.params as Record<string, string>,
    query: queryStart === -1 ? noQuery : new URLSearchParams(request.url.slice(queryStart)),
    header: (name) => headerOf(request, name),
  };
}

export function toCaller(request: FastifyRequest, trustedProxies: readonly Cidr[]): Caller {
  const { keyDigest, facts } = request;
  const params = request.params as Record<string, string>;
  const header = (name: string) => headerOf(request, name);
  return { keyDigest, params, header, facts, address: addressOf(request, trustedProxies) };
}

function addressOf(request: FastifyRequest, trustedProxies: readonly Cidr[]): string | null {
  const { "x-forwarded-for": forwarded } = request.headers;
  const trace = { peer: request.raw.socket.remoteAddress, forwarded: String(forwarded ?? "") };
  return callerAddressOf(trace, trustedProxies);
}

export function headerOf(request: FastifyRequest, name: string): string | null | typeof repeated {
  const value = request.headers[name];
  if (value === undefined) return null;
  let count = 0;
  const { rawHeaders } = request.raw;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) count += 1;
  }
  return count > 1 || Array.isArray(value) ? repeated : value;
}

export function send(reply: FastifyReply, answer: Answer | StreamedAnswer): FastifyReply {
  const { status, headers = {}, type } = answer;
  reply.code(status).headers(headers);
  if ("stream" in answer) return reply.type(answer.type).send(answer.stream);
  const { body } = answer;
  if (body === null) return (type === undefined ? reply : reply.type(type)).send();
  if (reply.request.method === "HEAD") {
    return sendHead(reply, { type, bytes: Buffer.byteLength(body) });
  }
  return reply.type(type ?? jsonType).send(body);
}

/** As GET would answer, without the body. */
function sendHead(
  reply: FastifyReply,
  { type = jsonType, bytes }: { type: string | undefined; bytes: number },
): FastifyReply {
  return reply.type(type).header("content-length", bytes).send();
}

/** A person who asked for a page gets the answer as a page. */
export function forReader(request: FastifyRequest, answer: Answer): Answer {
  const { route } = request.routeOptions.config;
  if (route?.method !== "GET" || route.onFault === undefined) return answer;
  return route.onFault(answer, toReader(request));
}
