import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { setDefaultCACertificates } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { mailsInFlightMax } from "../src/domain/limits.ts";
import { reviewMail } from "../src/domain/mail/mail.ts";
import {
  buildRawMail,
  type MailMessage,
  MailSender,
  type MailTimeouts,
} from "../src/outbound/send-mail.ts";
import { hangMs, until } from "./patience.ts";

const from = { name: "Countersign", address: "approvals@countersign.example" };
const reviewUrl = "https://countersign.example/review/Zk3vYJq0b2mE7xWc9TtR1uHsNfPdLg5oAaQyBiKjUvM";
const facts = {
  summary: "Pay invoice 4711",
  agentName: "payer",
  workspaceName: "Acme",
  approverEmail: "ann@example.com",
  groupName: null,
  createdAt: new Date("2026-11-15T16:11:42Z"),
  expiresAt: new Date("2026-11-16T16:11:42Z"),
  reviewUrl,
  reviewCode: null,
  publicUrl: "https://countersign.example",
};
const message: MailMessage = {
  ...reviewMail(facts),
  to: "ann@example.com",
  messageId: "<rev_1.review@countersign.example>",
  references: null,
  date: new Date("2026-11-15T16:11:42Z"),
  reviewCodes: [],
};

const certificates = join(import.meta.dirname, "certificates");
const authority = readFileSync(join(certificates, "ca.pem"), "utf8");
const trusted = {
  key: readFileSync(join(certificates, "localhost-key.pem"), "utf8"),
  cert: readFileSync(join(certificates, "localhost.pem"), "utf8"),
};
setDefaultCACertificates([authority]);

const cleanups: (() => void | Promise<void>)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

type Received = { from: string; to: string[]; raw: string };

/** A real mail server that takes everything, unless the options say otherwise. */
async function startServer(options: SMTPServerOptions = {}, port = 0) {
  const received: Received[] = [];
  const seen = { connections: 0, signIns: 0 };
  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    disableReverseLookup: true,
    hideSTARTTLS: true,
    closeTimeout: 10,
    onConnect: (_session, callback) => {
      seen.connections += 1;
      callback();
    },
    onAuth: ({ username, password }, _session, callback) => {
      seen.signIns += 1;
      if (username === "user" && password === "pass:word/1")
        return callback(null, { user: "user" });
      callback(failure(535, `5.7.8 no, not ${password}`));
    },
    onData: (stream, { envelope }, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = envelope;
        const sender = mailFrom === false ? "" : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        received.push({ from: sender, to, raw: Buffer.concat(chunks).toString() });
        callback();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  const stop = () => new Promise<void>((resolve) => server.close(resolve));
  cleanups.push(stop);
  return { port: (server.server.address() as AddressInfo).port, received, seen, stop };
}

type Step = string | "hang" | "cut";

/** A server that answers as it is told, for answers that a real one does not give. */
async function startScript(
  answerTo: (line: string, socket: Socket) => Step,
  greeting: Step = "220 hi",
) {
  const sockets = new Set<Socket>();
  const lines: string[] = [];
  const act = (socket: Socket, step: Step) => {
    if (step === "cut") socket.destroy();
    else if (step !== "hang") socket.write(`${step}\r\n`);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    act(socket, greeting);
    let rest = "";
    socket.on("data", (chunk) => {
      const [last = "", ...whole] = (rest + chunk.toString()).split("\r\n").reverse();
      rest = last;
      for (const line of whole.reverse()) {
        lines.push(line);
        act(socket, answerTo(line, socket));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, lines };
}

/** Goes through a whole message politely, except where it is told otherwise. */
function polite(exceptions: Record<string, Step> = {}) {
  let isData = false;
  return (line: string): Step => {
    const command = isData ? (line === "." ? "." : "text") : (line.split(/[ :]/)[0] ?? "");
    if (command === "text") return "hang";
    isData = command === "DATA" && exceptions.DATA === undefined;
    return (
      exceptions[command] ??
      { EHLO: "250 hi", DATA: "354 go on", QUIT: "221 bye" }[command] ??
      "250 ok"
    );
  };
}

function senderTo(port: number, { url = "smtp://localhost:PORT", timeouts = {} } = {}): MailSender {
  const smtpUrl = url.replace("PORT", String(port));
  const sender = new MailSender({ smtpUrl, from, timeouts: { ...patient, ...timeouts } });
  cleanups.push(() => sender.close());
  return sender;
}

/** A server that answers does so in time, on any machine. */
const patient: MailTimeouts = {
  connectionMs: hangMs,
  greetingMs: hangMs,
  socketMs: hangMs,
  overallMs: hangMs,
};
const impatient: Partial<MailTimeouts> = { overallMs: 400 };

function failure(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

/** The fields above the first empty line, unfolded. */
function headersOf(raw: string): [name: string, value: string][] {
  const [head = ""] = raw.split("\r\n\r\n");
  return head
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
}

function headerOf(raw: string, name: string): string | null {
  const values = headersOf(raw).filter(([each]) => each.toLowerCase() === name.toLowerCase());
  assert.ok(values.length <= 1, `${name} stands there ${values.length} times`);
  return values[0]?.[1] ?? null;
}

function decodeWords(value: string): string {
  return value
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?Q\?(.*?)\?=/gi, (_, text: string) =>
      decodeQuoted(text.replaceAll("_", " ")),
    );
}

function decodeQuoted(text: string): string {
  const bytes = text
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(bytes, "latin1").toString();
}

test("a mail reaches one recipient, once, and the server's answer is kept", async () => {
  const server = await startServer();
  const answer = await senderTo(server.port).send(message);
  assert.equal(answer.outcome, "delivered");
  assert.match(answer.responseStart ?? "", /^250 /);
  assert.ok(answer.durationMs > 0);
  assert.equal(server.received.length, 1);
  const [mail] = server.received;
  assert.equal(mail?.from, from.address);
  assert.deepEqual(mail?.to, ["ann@example.com"]);
});

test("the headers are exactly those that a notification needs", async () => {
  const raw = (await buildRawMail(message, from)).toString();
  const headers = Object.fromEntries(headersOf(raw));
  const type = headers["Content-Type"] ?? "";
  assert.match(type, /^multipart\/alternative; *boundary="[^"]+"$/);
  assert.deepEqual(headers, {
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "All",
    From: "Countersign <approvals@countersign.example>",
    To: "ann@example.com",
    Subject: "Review requested: Pay invoice 4711",
    "Message-ID": "<rev_1.review@countersign.example>",
    Date: "Sun, 15 Nov 2026 16:11:42 +0000",
    "MIME-Version": "1.0",
    "Content-Type": type,
  });
  const reminder = { ...message, references: "<rev_0.review@countersign.example>" };
  const following = (await buildRawMail(reminder, from)).toString();
  assert.equal(headerOf(following, "References"), "<rev_0.review@countersign.example>");
  assert.equal(headerOf(following, "In-Reply-To"), "<rev_0.review@countersign.example>");
});

test("the text comes first and the HTML second, and both arrive as they were written", async () => {
  const content = reviewMail({ ...facts, summary: "Zahle 4 € an Müller 👨‍👩‍👧\n.\nFrom here" });
  const raw = (await buildRawMail({ ...message, ...content }, from)).toString();
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? "";
  const parts = raw.split(`--${boundary}`).slice(1, -1);
  const bodies = parts.map((part) => decodeQuoted(part.slice(part.indexOf("\r\n\r\n") + 4)));
  const types = parts.map((part) => /Content-Type: (.*)\r\n/.exec(part)?.[1]);
  assert.deepEqual(types, ["text/plain; charset=utf-8", "text/html; charset=utf-8"]);
  assert.equal(bodies[0]?.replaceAll("\r\n", "\n").trimEnd(), content.text.trimEnd());
  assert.equal(bodies[1]?.replaceAll("\r\n", "\n").trimEnd(), content.html.trimEnd());
  assert.ok(raw.split("\r\n").every((line) => line.length <= 998 && !/[\r\n]/.test(line)));
});

test("each attempt sends the same bytes, and they are those that are shown without a server", async () => {
  const server = await startServer();
  await senderTo(server.port).send(message);
  await senderTo(server.port).send(message);
  const raw = (await buildRawMail(message, from)).toString();
  assert.deepEqual(
    server.received.map((mail) => mail.raw.trimEnd()),
    [raw.trimEnd(), raw.trimEnd()],
  );
});

test("the server's answer to the message decides between later and never", async () => {
  type Hook = (...args: [unknown, unknown, (error: Error) => void]) => void;
  const says =
    (code: number): Hook =>
    (_value, _session, callback) =>
      callback(failure(code, "no"));
  const afterData = (code: number) => ({
    onData: (
      stream: NodeJS.ReadableStream,
      _session: unknown,
      callback: (error: Error) => void,
    ) => {
      stream.resume().on("end", () => callback(failure(code, "no")));
    },
  });
  const cases = [
    [{ onMailFrom: says(451) }, "deferred"],
    [{ onMailFrom: says(550) }, "refused"],
    [{ onMailFrom: says(530) }, "sign_in_failed"],
    [{ onRcptTo: says(450) }, "deferred"],
    [{ onRcptTo: says(421) }, "deferred"],
    [{ onRcptTo: says(550) }, "refused"],
    [afterData(452), "deferred"],
    [afterData(554), "refused"],
  ] as const;
  const check = async ([options, outcome]: (typeof cases)[number]) => {
    const server = await startServer(options);
    const answer = await senderTo(server.port).send(message);
    assert.equal(answer.outcome, outcome, answer.responseStart ?? "no answer");
    assert.match(answer.responseStart ?? "", /^[45]\d\d .*no/);
    assert.equal(server.received.length, 0);
  };
  await Promise.all(cases.map(check));
});

test("an answer before the message is about the server, so the mail is tried again", async () => {
  for (const [greeting, exceptions, outcome] of [
    ["554 go away", {}, "connection_failed"],
    ["421 busy", {}, "deferred"],
    ["220 hi", { EHLO: "550 no", HELO: "550 no" }, "connection_failed"],
    ["220 hi", { MAIL: "530 5.7.0 Must issue a STARTTLS command first" }, "tls_failed"],
    ["220 hi", { MAIL: "503 bad sequence" }, "connection_failed"],
    ["220 hi", { DATA: "554 no" }, "refused"],
    ["not even smtp", {}, "connection_failed"],
    ["cut", {}, "connection_failed"],
  ] as const) {
    const { port } = await startScript(polite(exceptions), greeting);
    const { outcome: found } = await senderTo(port).send(message);
    assert.equal(found, outcome, `${greeting} ${JSON.stringify(exceptions)}`);
  }
});

test("a connection that is cut after the message leaves it unknown, and sends it once only", async () => {
  const { port, lines } = await startScript(polite({ ".": "cut" }));
  const answer = await senderTo(port).send(message);
  assert.deepEqual([answer.outcome, answer.responseStart], ["connection_failed", null]);
  assert.equal(lines.filter((line) => line === ".").length, 1);
});

test("a server that says nothing, or that never comes to an end, is given up in time", async () => {
  const silent = await startScript(polite(), "hang");
  const unheard = senderTo(silent.port, { timeouts: { greetingMs: 100 } });
  assert.equal((await unheard.send(message)).outcome, "timed_out");
  // Each line comes in time, so that only the deadline of the whole ends this.
  const drips = setInterval(() => dripping?.write("250-more\r\n"), 20);
  let dripping: Socket | null = null;
  const slow = await startScript((_line, socket) => {
    dripping = socket;
    return "hang";
  });
  const answer = await senderTo(slow.port, { timeouts: impatient }).send(message);
  clearInterval(drips);
  assert.equal(answer.outcome, "timed_out");
});

test("a mail that is given up delays no other, and is not sent behind the caller's back", async () => {
  let isStuck = true;
  const answers = polite();
  const { port, lines } = await startScript((line) => (isStuck ? "hang" : answers(line)));
  const sender = senderTo(port, { timeouts: { overallMs: hangMs / 80 } });
  const given = await Promise.all(Array.from({ length: 8 }, () => sender.send(message)));
  assert.deepEqual(new Set(given.map(({ outcome }) => outcome)), new Set(["timed_out"]));
  isStuck = false;
  assert.equal((await sender.send({ ...message, to: "bob@example.com" })).outcome, "delivered");
  assert.deepEqual(
    lines.filter((line) => line.startsWith("RCPT")),
    ["RCPT TO:<bob@example.com>"],
  );
});

test("a server that is not there is a failed connection", async () => {
  const server = await startServer();
  await server.stop();
  const sender = senderTo(server.port);
  const answer = await sender.send(message);
  assert.deepEqual([answer.outcome, answer.responseStart], ["connection_failed", null]);
  assert.equal((await sender.verify()).outcome, "connection_failed");
});

test("a server that restarts between two mails costs neither of them", async () => {
  const first = await startServer();
  const sender = senderTo(first.port);
  assert.equal((await sender.send(message)).outcome, "delivered");
  await first.stop();
  const second = await startServer({}, first.port);
  assert.equal((await sender.send(message)).outcome, "delivered");
  assert.equal(second.received.length, 1);
});

test("connections are kept and few, however many mails there are at once", async () => {
  const server = await startServer();
  const sender = senderTo(server.port);
  const mails = Array.from({ length: 24 }, (_, n) => ({ ...message, to: `ann${n}@example.com` }));
  const answers = await Promise.all(mails.map((mail) => sender.send(mail)));
  assert.ok(answers.every(({ outcome }) => outcome === "delivered"));
  assert.deepEqual(
    server.received.map(({ to }) => to.join()).sort(),
    mails.map(({ to }) => to).sort(),
  );
  assert.ok(server.seen.connections <= mailsInFlightMax, `${server.seen.connections} connections`);
});

test("signing in works, and a wrong password is told apart from a wrong address", async () => {
  const server = await startServer({ authOptional: false, allowInsecureAuth: true });
  const right = senderTo(server.port, { url: "smtp://user:pass%3Aword%2F1@localhost:PORT" });
  assert.equal((await right.send(message)).outcome, "delivered");
  assert.equal((await right.verify()).outcome, "delivered");
  const wrong = senderTo(server.port, { url: "smtp://user:secret-1234@localhost:PORT" });
  for (const answer of [await wrong.send(message), await wrong.verify()]) {
    assert.equal(answer.outcome, "sign_in_failed");
    assert.equal(answer.responseStart, "535 5.7.8 no, not […]");
  }
  const nobody = senderTo(server.port);
  assert.equal((await nobody.send(message)).outcome, "sign_in_failed");
  assert.equal(server.received.length, 1);
});

test("a server that knows no signing in is not used without", async () => {
  const { port, lines } = await startScript(polite({ AUTH: "502 what" }));
  const sender = senderTo(port, { url: "smtp://user:pass@localhost:PORT" });
  assert.equal((await sender.send(message)).outcome, "sign_in_failed");
  assert.ok(!lines.some((line) => line.startsWith("MAIL")));
});

test("TLS is used when it is offered, from the start or later, with a certificate that is verified", async () => {
  const later = await startServer({ ...trusted, hideSTARTTLS: false });
  const atOnce = await startServer({ ...trusted, secure: true });
  const neverToo = { hideSTARTTLS: false, authOptional: true };
  // Without a certificate of its own it has one that nobody vouches for.
  const broken = await startServer(neverToo);
  const brokenAtOnce = await startServer({ ...neverToo, secure: true });
  const cases = [
    [later.port, "smtp://localhost:PORT", "delivered"],
    [later.port, "smtp://localhost:PORT?tls=required", "delivered"],
    [atOnce.port, "smtps://localhost:PORT", "delivered"],
    // The certificate is another name's.
    [later.port, "smtp://[::ffff:127.0.0.1]:PORT", "tls_failed"],
    [broken.port, "smtp://localhost:PORT", "tls_failed"],
    [broken.port, "smtp://localhost:PORT?tls=never", "delivered"],
    [brokenAtOnce.port, "smtps://localhost:PORT", "tls_failed"],
    // It does not speak TLS there.
    [later.port, "smtps://localhost:PORT", "tls_failed"],
  ] as const;
  const check = async ([port, url, outcome]: (typeof cases)[number]) => {
    const sender = senderTo(port, { url });
    assert.equal((await sender.send(message)).outcome, outcome, url);
    assert.equal((await sender.verify()).outcome, outcome, url);
  };
  await Promise.all(cases.map(check));
});

test("a password does not leave without TLS where TLS is required, whatever the server offers", async () => {
  const server = await startServer({ allowInsecureAuth: true });
  const sender = senderTo(server.port, { url: "smtp://user:pass@localhost:PORT?tls=required" });
  assert.equal((await sender.send(message)).outcome, "tls_failed");
  assert.equal((await sender.verify()).outcome, "tls_failed");
  assert.deepEqual([server.seen.signIns, server.received.length], [0, 0]);
});

test("a check signs in and sends nothing", async () => {
  const server = await startServer();
  const answer = await senderTo(server.port).verify();
  assert.equal(answer.outcome, "delivered");
  assert.equal(server.seen.connections, 1);
  assert.equal(server.received.length, 0);
  const silent = await startScript(polite(), "hang");
  const stuck = await senderTo(silent.port, { timeouts: impatient }).verify();
  assert.equal(stuck.outcome, "timed_out");
});

test("no string makes a second recipient or a header", async () => {
  const server = await startServer();
  const sender = senderTo(server.port);
  const evil = "x\r\nBcc: eve@evil.example\r\n\r\n<b>%0d%0aCc: eve@evil.example";
  const summary = `${evil}\u2028Bcc: eve@evil.example\u0085`;
  const content = reviewMail({
    ...facts,
    summary,
    agentName: evil,
    workspaceName: evil,
    groupName: evil,
  });
  const attempts: Partial<MailMessage>[] = [
    content,
    { subject: evil },
    { subject: "=?utf-8?Q?x=0D=0ABcc:_eve=40evil.example?=" },
    { messageId: `<a@b>${evil}` },
    { references: `<a@b>${evil}` },
    { text: evil, html: evil },
    { text: "\r\n.\r\nMAIL FROM:<eve@evil.example>\r\n" },
  ];
  for (const attempt of attempts) {
    assert.equal((await sender.send({ ...message, ...attempt })).outcome, "delivered");
  }
  const names = new Set(
    headersOf((await buildRawMail(message, from)).toString()).map(([name]) => name),
  );
  for (const name of ["References", "In-Reply-To"]) names.add(name);
  assert.equal(server.received.length, attempts.length);
  for (const { to, raw, from: sentFrom } of server.received) {
    assert.deepEqual([sentFrom, to], [from.address, ["ann@example.com"]]);
    assert.deepEqual(
      headersOf(raw).filter(([name]) => !names.has(name)),
      [],
    );
    assert.equal(headerOf(raw, "To"), "ann@example.com");
  }
  // Text that only looks encoded is not decoded on the other side either.
  const literal = headerOf(server.received[2]?.raw ?? "", "Subject") ?? "";
  assert.equal(decodeWords(literal), "=?utf-8?Q?x=0D=0ABcc:_eve=40evil.example?=");
});

test("a recipient that is not one plain address is refused before anything is sent", async () => {
  const server = await startServer();
  const sender = senderTo(server.port);
  for (const to of [
    "ann@example.com, eve@evil.example",
    "ann@example.com\r\nRCPT TO:<eve@evil.example>",
    "Ann <ann@example.com>",
    '"a b"@example.com',
    "",
  ]) {
    const answer = await sender.send({ ...message, to });
    assert.deepEqual([answer.outcome, answer.responseStart], ["refused", null], to);
  }
  assert.equal(server.seen.connections, 0);
});

test("the kept part of an answer is short, and holds neither link nor message", async () => {
  const token = reviewUrl.slice(-43);
  const said = `550-ann@example.com: blocked <${reviewUrl}>\r\n550 ${token.slice(3, 30)}\0${"é".repeat(3000)}`;
  const { port } = await startScript(polite({ ".": said }));
  const { outcome, responseStart } = await senderTo(port).send(message);
  assert.equal(outcome, "refused");
  assert.match(responseStart ?? "", /^550-ann@example\.com: blocked <\[…\]>\n550 \[…\]\uFFFDéé/);
  assert.ok(Buffer.byteLength(responseStart ?? "") <= 4096);
  assert.ok((responseStart ?? "").isWellFormed() && !responseStart?.includes("\0"));
});

test("nor does it hold the code that the link asks for, however short a quote of the message is", async () => {
  const { port } = await startScript(polite({ ".": "550 spam: KMW-7XQ, KMW7XQ" }));
  const reviewCode = "KMW7XQ";
  const content = reviewMail({ ...facts, reviewCode });
  const reviewCodes = [reviewCode];
  const { responseStart } = await senderTo(port).send({ ...message, ...content, reviewCodes });
  assert.equal(responseStart, "550 spam: […], […]");
});

test("a closed sender gives up what is under way and takes nothing new", async () => {
  const { port, lines } = await startScript(() => "hang");
  const sender = senderTo(port);
  const underWay = Array.from({ length: 6 }, () => sender.send(message));
  await until(() => lines.length > 0, "a mail to be under way");
  sender.close();
  const answers = [...(await Promise.all(underWay)), await sender.send(message)];
  assert.deepEqual(new Set(answers.map(({ outcome }) => outcome)), new Set(["connection_failed"]));
});
