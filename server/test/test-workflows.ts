// A stand-in for the Workflows webhooks of Teams, written from what Microsoft has published. It takes what they take,
// refuses what they refuse, and keeps the cards.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export const workflowsCa = certificate("ca.pem");

const bytesMax = 28 * 1024;

// biome-ignore lint/suspicious/noExplicitAny: tests look into cards whose form the stand-in has checked
export type Card = any;

export type WorkflowsAnswer = { status: number; headers?: Record<string, string>; hangs?: boolean };

export type TestWorkflows = {
  url: string;
  cards: Card[];
  /** Why messages were refused. */
  flaws: string[];
  /** How the next calls are answered, one each; then with 202. */
  answers: WorkflowsAnswer[];
  calls: number;
  close(): Promise<void>;
};

export async function startWorkflows(): Promise<TestWorkflows> {
  const own: TestWorkflows = {
    ...{ url: "", cards: [], flaws: [], answers: [], calls: 0, close: async () => {} },
  };
  const server = https.createServer(
    { key: certificate("localhost-key.pem"), cert: certificate("localhost.pem") },
    async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      own.calls += 1;
      const told = own.answers.shift();
      if (told?.hangs) return;
      if (told !== undefined) {
        response.writeHead(told.status, told.headers).end();
        return;
      }
      try {
        own.cards.push(cardIn(Buffer.concat(parts), request.headers["content-type"]));
        response.writeHead(202).end();
      } catch (flaw) {
        own.flaws.push(String(flaw));
        response.writeHead(400).end();
      }
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  own.url = `https://localhost:${port}/workflows/abc/triggers/manual/paths/invoke?sig=s3cret`;
  own.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return own;
}

/** The card, if the message has the form that the template "post to a channel when a webhook request is received" reads. */
function cardIn(body: Buffer, contentType = ""): Card {
  assert.match(contentType, /^application\/json/);
  assert.ok(body.length <= bytesMax, `${body.length} bytes are too many`);
  const message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  assert.equal(message.type, "message");
  assert.equal(message.attachments.length, 1);
  const [{ contentType: kind, contentUrl, content }] = message.attachments;
  assert.equal(kind, "application/vnd.microsoft.card.adaptive");
  assert.equal(contentUrl, null);
  assert.equal(content.type, "AdaptiveCard");
  assert.ok(["1.0", "1.1", "1.2", "1.3", "1.4"].includes(content.version), content.version);
  assert.ok(Array.isArray(content.body) && content.body.length > 0);
  for (const part of content.body) checkPart(part);
  for (const { type, title, url } of content.actions) {
    assert.equal(type, "Action.OpenUrl");
    assert.equal(typeof title, "string");
    assert.equal(new URL(url).protocol, "https:");
  }
  return content;
}

/** Of the elements that cards of ours have. A text run shows its text as it is; a text block would read Markdown. */
function checkPart(part: Card): void {
  if (part.type === "Container") {
    for (const item of part.items) checkPart(item);
    return;
  }
  assert.equal(part.type, "RichTextBlock");
  assert.ok(part.inlines.length > 0);
  for (const { type, text } of part.inlines) {
    assert.equal(type, "TextRun");
    assert.equal(typeof text, "string");
  }
}

/** All its words, a line for each block. */
export function wordsOf(card: Card): string[] {
  return card.body.flatMap((part: Card) =>
    part.type === "Container"
      ? wordsOf({ body: part.items })
      : part.inlines.map(({ text }: { text: string }) => text).join(""),
  );
}

function certificate(name: string): string {
  return readFileSync(join(import.meta.dirname, "certificates", name), "utf8");
}
