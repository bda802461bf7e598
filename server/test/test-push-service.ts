// A push service under test, written from RFC 8030, 8188, 8291 and 8292: it takes a message only with a valid token of
// the key that its browser subscribed to, checks headers and sizes, and decrypts what it took, as the browser would.

import assert from "node:assert/strict";
import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  type ECDH,
  hkdfSync,
  randomBytes,
  verify,
} from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export const pushServiceCa = certificate("ca.pem");

/** A message as the browser gets it. */
export type ReceivedPush = {
  text: string;
  headers: IncomingMessage["headers"];
  claims: { aud: string; exp: number; sub: string };
  bytes: number;
};

/** What a browser knows of its subscription. The private half never leaves it. */
export type TestBrowser = {
  endpoint: string;
  publicKey: Buffer;
  auth: Buffer;
  received: ReceivedPush[];
  /** Answers instead of taking messages. */
  answer: ((response: ServerResponse) => void) | null;
};

type Secrets = { browser: TestBrowser; pair: ECDH; applicationServerKey: string };

export type PushService = {
  url: string;
  /** Answers below /raw/. */
  answer: (response: ServerResponse) => void;
  /** What was wrong with messages that were refused. */
  flaws: string[];
  subscribe(applicationServerKey: string): TestBrowser;
  close(): Promise<void>;
};

export async function startPushService(): Promise<PushService> {
  const browsers = new Map<string, Secrets>();
  const keys = { key: certificate("localhost-key.pem"), cert: certificate("localhost.pem") };
  const server = createServer(keys, async (request, response) => {
    const body = await bodyOf(request);
    if (request.url?.startsWith("/raw/")) return service.answer(response);
    const secrets = browsers.get(request.url ?? "");
    if (secrets === undefined) return response.writeHead(404).end();
    if (secrets.browser.answer !== null) return secrets.browser.answer(response);
    try {
      secrets.browser.received.push(receive(request, body, secrets, service.url));
      response.writeHead(201, { location: `${service.url}/message/1` }).end();
    } catch (error) {
      service.flaws.push(error instanceof Error ? error.message : String(error));
      response.writeHead(400).end("flawed");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const service: PushService = {
    url: `https://localhost:${port}`,
    answer: (response) => void response.writeHead(201).end(),
    flaws: [],
    subscribe: (applicationServerKey) => {
      const path = `/send/${randomBytes(12).toString("base64url")}`;
      const pair = createECDH("prime256v1");
      const browser: TestBrowser = {
        endpoint: service.url + path,
        publicKey: pair.generateKeys(),
        auth: randomBytes(16),
        received: [],
        answer: null,
      };
      browsers.set(path, { browser, pair, applicationServerKey });
      return browser;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

function receive(
  { method, headers }: IncomingMessage,
  body: Buffer,
  secrets: Secrets,
  origin: string,
): ReceivedPush {
  assert.equal(method, "POST");
  assert.match(String(headers.ttl), /^[0-9]+$/, "a message needs a TTL");
  assert.match(String(headers.urgency ?? "normal"), /^(very-low|low|normal|high)$/);
  assert.match(String(headers.topic ?? "a"), /^[A-Za-z0-9_-]{1,32}$/);
  assert.equal(headers["content-encoding"], "aes128gcm");
  assert.ok(body.length <= 4_096, "the message is too large");
  const claims = checkToken(String(headers.authorization), secrets.applicationServerKey, origin);
  return { text: decrypt(body, secrets), headers, claims, bytes: body.length };
}

function checkToken(authorization: string, applicationServerKey: string, origin: string) {
  const match = /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), ?k=([\w-]+)$/.exec(authorization);
  const [, head = "", payload = "", signature = "", key = ""] = match ?? [];
  assert.equal(key, applicationServerKey, "the browser subscribed to another key");
  const point = Buffer.from(key, "base64url");
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33)];
  const jwk = { kty: "EC", crv: "P-256", x, y: y.toString("base64url") };
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${payload}`),
    { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  assert.ok(isSigned, "the token isn't signed with that key");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const nowSeconds = Date.now() / 1000;
  assert.equal(claims.aud, origin);
  assert.ok(claims.exp > nowSeconds && claims.exp <= nowSeconds + 24 * 3_600, "exp is wrong");
  assert.match(claims.sub, /^(mailto:|https:\/\/)/);
  return claims;
}

/** Written apart from the service's own encryption. */
function decrypt(body: Buffer, { browser, pair }: Secrets): string {
  const salt = body.subarray(0, 16);
  const recordSize = body.readUInt32BE(16);
  const keyId = body.subarray(21, 21 + (body[20] ?? 0));
  const record = body.subarray(21 + keyId.length);
  assert.ok(record.length <= recordSize, "a push message is one record");
  const info = [Buffer.from("WebPush: info\0"), browser.publicKey, keyId];
  const material = hkdf(pair.computeSecret(keyId), browser.auth, Buffer.concat(info), 32);
  const key = hkdf(material, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = hkdf(material, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const decipher = createDecipheriv("aes-128-gcm", key, nonce);
  decipher.setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = padded.lastIndexOf(2);
  assert.ok(end >= 0 && padded.subarray(end + 1).every((byte) => byte === 0));
  return padded.subarray(0, end).toString();
}

function hkdf(material: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", material, salt, info, bytes));
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function certificate(name: string): string {
  return readFileSync(join(import.meta.dirname, "certificates", name), "utf8");
}
