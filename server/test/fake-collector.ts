// A collector of traces under test: a real HTTP server that decodes what an exporter sends (OTLP, protobuf), and may also
// refuse it or never answer.

import http from "node:http";
import type { AddressInfo } from "node:net";

export type ExportedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** As the protocol numbers them: 1 internal, 2 server, 3 client. */
  kind: number;
  attributes: Record<string, string | number>;
  links: string[];
  /** 2 is an error. */
  status: number;
  statusMessage: string;
};

export type Collector = {
  url: string;
  /** Everything that was sent, headers included. */
  bytes: Buffer[];
  spans: ExportedSpan[];
  resource: Record<string, string | number>;
  calls: { path: string; headers: http.IncomingHttpHeaders }[];
  close(): Promise<void>;
};

/** Answers with this status, never, or with a 200 that is no answer of the protocol. */
export async function startCollector(
  answer: number | "never" | "a page" = 200,
): Promise<Collector> {
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    collector.calls.push({ path: request.url ?? "", headers: request.headers });
    collector.bytes.push(body, Buffer.from(JSON.stringify(request.headers)));
    readExport(body, collector);
    if (answer === "a page") response.writeHead(200).end("<!doctype html>hush");
    else if (answer !== "never") response.writeHead(answer).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const collector: Collector = {
    url: `http://127.0.0.1:${port}`,
    ...{ bytes: [], spans: [], resource: {}, calls: [] },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return collector;
}

function readExport(body: Buffer, collector: Collector): void {
  for (const resourceSpans of all(fieldsOf(body), 1)) {
    const fields = fieldsOf(resourceSpans);
    const [resource = Buffer.alloc(0)] = all(fields, 1);
    Object.assign(collector.resource, attributesOf(all(fieldsOf(resource), 1)));
    const spans = all(fields, 2).flatMap((scopeSpans) => all(fieldsOf(scopeSpans), 2));
    collector.spans.push(...spans.map(toSpan));
  }
}

function toSpan(bytes: Buffer): ExportedSpan {
  const fields = fieldsOf(bytes);
  const [status = Buffer.alloc(0)] = all(fields, 15);
  return {
    traceId: hexOf(fields, 1),
    spanId: hexOf(fields, 2),
    parentSpanId: hexOf(fields, 4),
    name: textOf(fields, 5),
    kind: Number(one(fields, 6) ?? 0),
    attributes: attributesOf(all(fields, 9)),
    links: all(fields, 13).map((link) => hexOf(fieldsOf(link), 1)),
    status: Number(one(fieldsOf(status), 3) ?? 0),
    statusMessage: textOf(fieldsOf(status), 2),
  };
}

function attributesOf(pairs: Buffer[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const fields = fieldsOf(pair);
      const value = fieldsOf(all(fields, 2)[0] ?? Buffer.alloc(0));
      const number = one(value, 3);
      return [textOf(fields, 1), typeof number === "bigint" ? Number(number) : textOf(value, 1)];
    }),
  );
}

type Field = { number: number; value: bigint | Buffer };

function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes.readUInt8(at));
      at += 1;
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    if (![0, 1, 2, 5].includes(kind)) throw new Error(`no protobuf: a field of the kind ${kind}`);
    const value = kind === 0 ? varint() : take(kind === 1 ? 8 : kind === 5 ? 4 : Number(varint()));
    fields.push({ number: tag >> 3, value });
  }
  return fields;
}

function all(fields: Field[], number: number): Buffer[] {
  return fields.flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? field.value : [],
  );
}

function one(fields: Field[], number: number): bigint | Buffer | null {
  return fields.find((field) => field.number === number)?.value ?? null;
}

function hexOf(fields: Field[], number: number): string {
  return (all(fields, number)[0] ?? Buffer.alloc(0)).toString("hex");
}

function textOf(fields: Field[], number: number): string {
  return (all(fields, number)[0] ?? Buffer.alloc(0)).toString();
}
