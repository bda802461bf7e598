// A real SMTP server for tests, and the mails that it took or refused.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export type ReceivedMail = {
  recipients: string[];
  raw: string;
  headers: Map<string, string>;
  /** The decoded parts. */
  text: string;
  html: string;
};

export type Mailserver = { url: string; received: ReceivedMail[]; close(): Promise<void> };

/** Takes every mail, unless `refuse` answers with an error for its recipient. */
export async function startMailserver(
  refuse: (recipient: string) => { code: number; text: string } | null = () => null,
  options: SMTPServerOptions = {},
): Promise<Mailserver> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    logger: false,
    onRcptTo: ({ address }, _session, done) => {
      const refusal = refuse(address);
      if (refusal === null) return done();
      done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        received.push(parseMail(Buffer.concat(parts).toString("latin1"), recipients));
        done();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function parseMail(raw: string, recipients: string[]): ReceivedMail {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const headers = headersOf(head);
  const boundary = /boundary="([^"]+)"/.exec(headers.get("content-type") ?? "")?.[1] ?? "none";
  const parts = rest.join("\r\n\r\n").split(`--${boundary}`).map(partOf);
  const textOf = (type: string) => parts.find((part) => part.type.startsWith(type))?.text ?? "";
  return { recipients, raw, headers, text: textOf("text/plain"), html: textOf("text/html") };
}

function partOf(part: string): { type: string; text: string } {
  const [head = "", ...body] = part.replace(/^\r\n/, "").split("\r\n\r\n");
  const headers = headersOf(head);
  const encoded = body.join("\r\n\r\n");
  const isBase64 = headers.get("content-transfer-encoding") === "base64";
  const bytes = isBase64
    ? Buffer.from(encoded, "base64")
    : Buffer.from(
        encoded
          .replaceAll(/=\r\n/g, "")
          .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
        "latin1",
      );
  return { type: headers.get("content-type") ?? "", text: bytes.toString("utf8") };
}

function headersOf(head: string): Map<string, string> {
  const unfolded = head.replaceAll(/\r\n[ \t]+/g, " ");
  return new Map(
    unfolded.split("\r\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
