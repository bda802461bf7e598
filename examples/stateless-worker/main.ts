// A worker that keeps nothing: it verifies the webhook, answers it, takes the agent's state out of it, and continues.
// It redeems the approval before it acts, so the mail is sent at most once, however often the webhook comes.
//
//   COUNTERSIGN_API_KEY=cs_… COUNTERSIGN_WEBHOOK_SECRET=whsec_… npx node examples/stateless-worker/main.ts
//
// It asks for one approval at its start, so that there is something to resume; kill it then, and start it again with
// `--no-ask`: the decision finds whichever worker listens. Ctrl-C ends it.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
// In your own project: from "@countersign/sdk"
import {
  AlreadyRedeemedError,
  Countersign,
  constructEvent,
  type WebhookData,
  type WebhookEvent,
  WebhookVerificationError,
} from "../../sdk/src/index.ts";

type Email = { to: string; subject: string };
/** The agent's whole state: what it has done, and what is left. */
type AgentState = { customer: string; done: string[]; left: string[] };

const port = Number(process.env.PORT ?? 4000);
const secret = process.env.COUNTERSIGN_WEBHOOK_SECRET ?? "";
const agentName = "stateless-worker";
const approver = process.env.COUNTERSIGN_NOTIFY ?? "owner@localhost";
const bodyBytesMax = 16 * 1024 * 1024;

if (secret === "") {
  say(
    "There is no signing secret. Register this worker once, and pass on the secret that is shown:",
  );
  say("  bin/countersign workspace list");
  say(`  bin/countersign webhook create --workspace ws_… --url http://localhost:${port}/`);
  process.exit(3);
}
const countersign = new Countersign();

const server = createServer((request, response) => {
  receive(request, response).catch((error: Error) => {
    // After the answer nobody sends it again by itself: `countersign delivery resend` does.
    say(`Failed: ${error.message}`);
    if (!response.headersSent) response.writeHead(500).end();
  });
});
server.listen(port, async () => {
  say(`Listening for webhooks on port ${(server.address() as AddressInfo).port}.`);
  if (!process.argv.includes("--no-ask")) await ask();
});

async function ask(): Promise<void> {
  const agentState: AgentState = {
    customer: "Ann",
    done: ["found the order", "wrote the mail"],
    left: ["note it in the ticket", "close the ticket"],
  };
  const payload: Email = { to: "ann@customer.example", subject: "Your parcel is late" };
  const { id } = await countersign.requests.create<Email, null, AgentState>({
    summary: summaryOf(payload),
    payload,
    notify: approver,
    agentName,
    agentState,
  });
  const base = process.env.COUNTERSIGN_BASE_URL ?? "http://localhost:3000";
  say(`Asked ${approver} about ${id}. Open the review link in ${base}/dev/mail`);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  let event: WebhookEvent;
  try {
    event = await constructEvent(body, request.headers, secret);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    say(`Refused what did not verify (${error.code}).`);
    response.writeHead(400).end(error.code);
    return;
  }
  // First, because the work may take longer than the sender waits.
  response.writeHead(204).end();
  if (isOurs(event.data)) await goOn(event.event, event.data);
  else say(`Left alone, because this worker did not ask for it: ${event.data.id}`);
}

async function goOn(event: string, data: WebhookData): Promise<void> {
  const { agentState, effectivePayload, id } = data;
  switch (event) {
    case "request.approved":
      if (!isEmail(effectivePayload)) {
        say(`Approved ${id} with changes that are no mail, nothing was sent.`);
        return;
      }
      // Checked before any work: half of it would be worse than none.
      if (!isAgentState(agentState)) {
        say(`Approved ${id}, but there is no agent to go on with, nothing was sent.`);
        return;
      }
      if (!(await mayRun(id))) return;
      sendMail(effectivePayload, id);
      say(`Resumed for ${agentState.customer} after: ${agentState.done.join(", ")}`);
      for (const step of agentState.left) say(`  now: ${step}`);
      return;
    case "request.rejected":
      say(`Rejected ${id}, no mail was sent. ${data.resolutionNote ?? ""}`.trimEnd());
      return;
    case "request.expired":
    case "request.cancelled":
      say(`Not decided about ${id} (${event}), no mail was sent.`);
      return;
    default:
      say(`Heard of ${id}: ${event}`);
  }
}

/** True for one caller only: of the same event twice, of two workers, and of one that was killed and started again. */
async function mayRun(id: string): Promise<boolean> {
  try {
    await countersign.requests.redeem(id);
    return true;
  } catch (error) {
    if (!(error instanceof AlreadyRedeemedError)) throw error;
    say(`Not sent again: ${error.message}`);
    return false;
  }
}

/** Stands for a mail service that sends once for each key, however often it is told. */
function sendMail({ to, subject }: Email, key: string): void {
  say(`Approved. Sending "${subject}" to ${to} (key ${key})`);
}

/** An approver can write anything into the payload. */
function isEmail(payload: unknown): payload is Email {
  const { to, subject } = (payload ?? {}) as Partial<Email>;
  return typeof to === "string" && typeof subject === "string";
}

function isAgentState(state: unknown): state is AgentState {
  const { customer, done, left } = (state ?? {}) as Partial<AgentState>;
  return typeof customer === "string" && Array.isArray(done) && Array.isArray(left);
}

function summaryOf({ to, subject }: Email): string {
  return `Send "${subject}" to ${to}`;
}

/**
 * An endpoint hears of all requests of its workspace, and any of its keys can make one with any name. A request is ours
 * if our approver was asked in our words.
 */
function isOurs(data: WebhookData): boolean {
  const { approverGroup, approverEmail } = data;
  const asked = approverGroup ? `group:${approverGroup.key}` : approverEmail;
  return (
    data.agentName === agentName &&
    asked === approver &&
    isEmail(data.payload) &&
    data.summary === summaryOf(data.payload)
  );
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error("the body is larger than any webhook");
    chunks.push(chunk);
  }
  // Unparsed: the signature covers the bytes.
  return Buffer.concat(chunks);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
