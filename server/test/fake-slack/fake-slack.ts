// A Slack for tests, written from its published contract and strict about it: the web API, Socket Mode, and signed calls
// over HTTP. It keeps what people would see, and lets a test act as one of them. Slack's own client libraries drive it in
// fake-slack.test.ts.

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  pressInViewPayload,
  pressPayload,
  signatureOf,
  submissionPayload,
  typedValues,
} from "./interactions.ts";
import {
  type Json,
  type PlannedFault,
  type SlackApp,
  type SlackChannel,
  type SlackMessage,
  SlackState,
  type SlackUser,
  type SlackView,
} from "./slack-state.ts";
import { Sockets } from "./sockets.ts";
import {
  type Arguments,
  addMessage,
  change,
  contentOf,
  methods,
  needScope,
  parseOr,
  RateLimited,
  type RateSettings,
  Rates,
  replaceView,
  SlackError,
} from "./web-api.ts";

export type FakeSlackOptions = Partial<RateSettings> & {
  /** How long an app has to acknowledge. */
  ackMs?: number;
};

/** What the person sees who acted. */
export type Reaction =
  | { kind: "acknowledged" }
  /** Slack shows a warning beside the button, or in the modal. */
  | { kind: "failed"; why: string }
  | { kind: "closed" }
  | { kind: "updated"; view: SlackView }
  | { kind: "errors"; errors: Record<string, string> };

export const allScopes = [
  "chat:write",
  "im:write",
  "channels:read",
  "groups:read",
  "users:read",
  "users:read.email",
];

export class FakeSlack {
  readonly state = new SlackState();
  readonly sockets = new Sockets();
  /** Methods of which a call waits as planned. */
  readonly holding = new Set<string>();
  /** Each call of the web API, in order. */
  readonly calls: { method: string; args: Arguments; error: string | null }[] = [];
  readonly #server: Server;
  readonly #rates: Rates;
  readonly #ackMs: number;
  readonly #faults = new Map<string, PlannedFault[]>();

  static async start(options: FakeSlackOptions = {}): Promise<FakeSlack> {
    const slack = new FakeSlack(options);
    await new Promise<void>((resolve) => slack.#server.listen(0, "127.0.0.1", resolve));
    return slack;
  }

  private constructor({ ackMs = 3_000, ...rates }: FakeSlackOptions) {
    this.#ackMs = ackMs;
    this.#rates = new Rates({
      messageEveryMs: 1_000,
      tier3PerMinute: 50,
      triggerMs: 3_000,
      ...rates,
    });
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("upgrade", (request, socket) => this.sockets.accept(request, socket));
  }

  async stop(): Promise<void> {
    this.sockets.stop();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends with a slash. */
  get apiUrl(): string {
    return `${this.origin}/api/`;
  }

  // What an administrator sets up.

  createApp({
    teamId = "T0001",
    interactionsUrl = null,
    scopes = allScopes,
  }: {
    teamId?: string;
    interactionsUrl?: string | null;
    scopes?: readonly string[];
  } = {}): SlackApp {
    const bot = this.addUser({ teamId, name: "countersign", isBot: true });
    const id = this.state.newId("A");
    const app: SlackApp = {
      id,
      teamId,
      botUserId: bot.id,
      botId: this.state.newId("B"),
      botToken: `xoxb-${randomBytes(12).toString("hex")}`,
      appToken: `xapp-1-${id}-${randomBytes(12).toString("hex")}`,
      signingSecret: randomBytes(16).toString("hex"),
      scopes: new Set(scopes),
      interactionsUrl,
    };
    this.state.apps.set(app.id, app);
    this.state.tokens.set(app.botToken, { app, kind: "bot", refusal: null });
    this.state.tokens.set(app.appToken, { app, kind: "app", refusal: null });
    return app;
  }

  addUser(user: Partial<SlackUser> = {}): SlackUser {
    const id = this.state.newId("U");
    const made: SlackUser = {
      id,
      teamId: "T0001",
      name: `user-${id}`,
      email: null,
      isEmailConfirmed: true,
      isDeleted: false,
      isRestricted: false,
      isUltraRestricted: false,
      isStranger: false,
      isBot: false,
      ...user,
    };
    this.state.users.set(id, made);
    return made;
  }

  addChannel(
    name: string,
    {
      members = [],
      kind = "public",
      teamId = "T0001",
    }: { members?: string[]; kind?: "public" | "private"; teamId?: string } = {},
  ): SlackChannel {
    const id = this.state.newId("C");
    const channel: SlackChannel = {
      id,
      teamId,
      name,
      kind,
      members: new Set(members),
      isArchived: false,
    };
    this.state.channels.set(id, channel);
    return channel;
  }

  /** Tokens are refused from now on: `token_revoked`, `invalid_auth`, `account_inactive`. */
  revoke(app: SlackApp, refusal = "token_revoked"): void {
    for (const token of this.state.tokens.values()) if (token.app === app) token.refusal = refusal;
  }

  /** The next calls of a method go wrong. */
  plan(method: string, fault: PlannedFault): void {
    this.#faults.set(method, [...(this.#faults.get(method) ?? []), { times: 1, ...fault }]);
  }

  // What people see.

  /** In the order of their posting, without deleted ones and those for one person alone. */
  messagesIn(channelId: string): SlackMessage[] {
    return this.state.messages.filter(
      (each) => each.channel === channelId && !each.isDeleted && each.onlyFor === null,
    );
  }

  directMessages(app: SlackApp, user: SlackUser): SlackMessage[] {
    return this.messagesIn(this.state.directChannel(app, user.id).id);
  }

  /** Private answers to somebody, in any conversation. */
  privateAnswers(user: SlackUser): SlackMessage[] {
    return this.state.messages.filter((each) => each.onlyFor === user.id && !each.isDeleted);
  }

  openViews(user: SlackUser): SlackView[] {
    return [...this.state.views.values()].filter((each) => each.userId === user.id && each.isOpen);
  }

  // What people do.

  deleteMessage(message: SlackMessage): void {
    message.isDeleted = true;
  }

  async click(user: SlackUser, message: SlackMessage, actionId: string): Promise<Reaction> {
    const app = this.#appOf(message.appId);
    const payload = this.clickPayload(user, message, actionId);
    return this.#reactionToClick(await this.deliver(app, payload));
  }

  /** As it would be sent, for tests that send it twice, late or changed. */
  clickPayload(user: SlackUser, message: SlackMessage, actionId: string): Json {
    const app = this.#appOf(message.appId);
    const path = `/actions/${app.teamId}/${randomBytes(9).toString("hex")}`;
    this.state.responseUrls.set(path, { message, userId: user.id, uses: 0 });
    return pressPayload(this.state, {
      app,
      user,
      message,
      actionId,
      responseUrl: `${this.origin}${path}`,
      triggerId: this.state.newTrigger(user.id, app.id),
    });
  }

  async clickInView(user: SlackUser, view: SlackView, actionId: string): Promise<Reaction> {
    const app = this.#appOf(view.appId);
    const triggerId = this.state.newTrigger(user.id, app.id);
    const payload = pressInViewPayload({ app, user, view, actionId, triggerId });
    return this.#reactionToClick(await this.deliver(app, payload));
  }

  async submit(
    user: SlackUser,
    view: SlackView,
    typed: Record<string, string> = {},
  ): Promise<Reaction> {
    const payload = this.submitPayload(user, view, typed);
    return this.#reactionToSubmit(view, await this.deliver(this.#appOf(view.appId), payload));
  }

  submitPayload(user: SlackUser, view: SlackView, typed: Record<string, string> = {}): Json {
    if (!view.isOpen) throw new Error("nobody can submit a closed modal");
    if (view.view.submit === undefined) throw new Error("the modal has no button to submit it");
    const app = this.#appOf(view.appId);
    const triggerId = this.state.newTrigger(user.id, app.id);
    return submissionPayload({ app, user, view, values: typedValues(view.view, typed), triggerId });
  }

  /** Sends a payload to the app, by the transport that is set up. Null when it isn't acknowledged in time. */
  async deliver(
    app: SlackApp,
    payload: Json,
    forged: { signingSecret?: string; timestamp?: number } = {},
  ): Promise<{ payload: Json } | null> {
    if (app.interactionsUrl !== null) return this.#post(app, app.interactionsUrl, payload, forged);
    const accepts = payload.type === "view_submission";
    const envelope = { type: "interactive", payload, accepts_response_payload: accepts };
    return this.sockets.deliver(app.id, envelope, this.#ackMs);
  }

  async #post(
    app: SlackApp,
    url: string,
    payload: Json,
    {
      signingSecret = app.signingSecret,
      timestamp = Math.floor(Date.now() / 1_000),
    }: { signingSecret?: string; timestamp?: number },
  ): Promise<{ payload: Json } | null> {
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-slack-request-timestamp": String(timestamp),
          "x-slack-signature": signatureOf(signingSecret, timestamp, body),
        },
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(this.#ackMs),
      });
      const text = await response.text();
      if (response.status !== 200) return null;
      return { payload: text === "" ? {} : JSON.parse(text) };
    } catch {
      return null;
    }
  }

  #reactionToClick(answer: { payload: Json } | null): Reaction {
    return answer === null
      ? { kind: "failed", why: "not acknowledged in time" }
      : { kind: "acknowledged" };
  }

  #reactionToSubmit(view: SlackView, answer: { payload: Json } | null): Reaction {
    if (answer === null) return { kind: "failed", why: "not acknowledged in time" };
    const { response_action: action, errors, view: next } = answer.payload;
    if (action === "errors") return this.#showErrors(view, errors);
    if (action === "update") {
      try {
        replaceView(view, next, this.state);
      } catch (error) {
        return { kind: "failed", why: `${error} ${JSON.stringify((error as SlackError).details)}` };
      }
      return { kind: "updated", view };
    }
    const isClosing = action === undefined || action === "clear";
    if (!isClosing) return { kind: "failed", why: `response_action ${action}` };
    view.isOpen = false;
    return { kind: "closed" };
  }

  /** Slack shows an error beside a field, and nothing at all for a block that isn't one. */
  #showErrors(view: SlackView, errors: Json): Reaction {
    const ids = view.view.blocks
      .filter((block: Json) => block.type === "input")
      .map((block: Json) => block.block_id);
    const names = Object.keys(errors ?? {});
    const isShown = names.length > 0 && names.every((name) => ids.includes(name));
    return isShown
      ? { kind: "errors", errors }
      : { kind: "failed", why: "errors for unknown blocks" };
  }

  #appOf(id: string): SlackApp {
    const app = this.state.apps.get(id);
    if (app === undefined) throw new Error(`there is no app ${id}`);
    return app;
  }

  // The web API over HTTP.

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString();
    const path = new URL(request.url ?? "/", "http://fake").pathname;
    if (path.startsWith("/actions/")) return this.#answerAtResponseUrl(path, body, response);
    const method = path.replace(/^\/api\//, "");
    const args = argumentsOf(request, body, methods[method]?.takesJson ?? true);
    const fault = this.#takeFault(method);
    if (fault?.until !== undefined) this.holding.add(method);
    await fault?.until;
    this.holding.delete(method);
    if (fault?.breaks === "before") return void request.socket.destroy();
    const { status, headers, answer } = this.#answerTo(request, method, args, fault);
    this.calls.push({ method, args, error: answer.ok ? null : (answer.error ?? "") });
    if (fault?.breaks === "after") return void request.socket.destroy();
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
    response.end(JSON.stringify(answer));
  }

  #answerTo(
    request: IncomingMessage,
    method: string,
    args: Arguments,
    fault: PlannedFault | null,
  ): { status: number; headers: Record<string, string>; answer: Json } {
    const { retryAfterSeconds: after, status = after === undefined ? 200 : 429 } = fault ?? {};
    const headers: Record<string, string> =
      after === undefined ? {} : { "retry-after": String(after) };
    if (after !== undefined)
      return { status, headers, answer: { ok: false, error: "ratelimited" } };
    if (fault?.answer !== undefined) return { status, headers, answer: fault.answer };
    if (fault?.error !== undefined)
      return { status, headers, answer: { ok: false, error: fault.error } };
    try {
      const answer = { ok: true, ...this.#run(request, method, args) };
      const { app } = this.#authenticate(request, args);
      headers["x-oauth-scopes"] = [...app.scopes].join(",");
      return { status, headers, answer };
    } catch (error) {
      if (error instanceof RateLimited) {
        const retry = { "retry-after": String(error.retryAfterSeconds) };
        return { status: 429, headers: retry, answer: { ok: false, error: "ratelimited" } };
      }
      if (!(error instanceof SlackError)) throw error;
      return {
        status: 200,
        headers,
        answer: { ok: false, error: error.message, ...error.details },
      };
    }
  }

  #run(request: IncomingMessage, method: string, args: Arguments): Json {
    if (request.method !== "POST") throw new SlackError("invalid_post_type");
    const { app, kind } = this.#authenticate(request, args);
    if (method === "apps.connections.open") {
      if (kind !== "app") throw new SlackError("not_allowed_token_type");
      const ticket = this.sockets.newTicket(app.id);
      return {
        url: `${this.origin.replace("http", "ws")}/link/?ticket=${ticket}&app_id=${app.id}`,
      };
    }
    const known = methods[method];
    if (known === undefined) throw new SlackError("unknown_method");
    if (kind !== known.token) throw new SlackError("not_allowed_token_type");
    for (const scope of known.scopes ?? []) needScope(app, scope);
    if (known.tier !== null) this.#rates.noteCall(app.id, method, known.tier);
    return known.run({ app, args, state: this.state, rates: this.#rates });
  }

  #authenticate(request: IncomingMessage, args: Arguments) {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? args.token;
    if (token === undefined || token === "") throw new SlackError("not_authed");
    const known = this.state.tokens.get(token);
    if (known === undefined) throw new SlackError("invalid_auth");
    if (known.refusal !== null) throw new SlackError(known.refusal);
    return known;
  }

  #takeFault(method: string): PlannedFault | null {
    const [first, ...rest] = this.#faults.get(method) ?? [];
    if (first === undefined) return null;
    const left = (first.times ?? 1) - 1;
    this.#faults.set(method, left > 0 ? [{ ...first, times: left }, ...rest] : rest);
    return first;
  }

  /** Five answers at most. They are private unless they say otherwise. */
  #answerAtResponseUrl(path: string, body: string, response: ServerResponse): void {
    const known = this.state.responseUrls.get(path);
    const refuse = (error: string) =>
      response.writeHead(404).end(JSON.stringify({ ok: false, error }));
    if (known === undefined) return void refuse("invalid_url");
    known.uses += 1;
    if (known.uses > 5) return void refuse("used_url");
    try {
      this.#respond(known, parseOr(body, "invalid_payload"));
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      return void response.writeHead(400).end(JSON.stringify({ ok: false, error: error.message }));
    }
    response.end("ok");
  }

  #respond({ message, userId }: { message: SlackMessage; userId: string }, args: Arguments): void {
    if (args.delete_original === true) this.deleteMessage(message);
    else if (args.replace_original === true) change(message, contentOf(args));
    else this.#answerBeside(message, userId, args);
  }

  #answerBeside(message: SlackMessage, userId: string, args: Arguments): void {
    const content = contentOf(args);
    const channel = this.state.channels.get(message.channel);
    if (channel === undefined) throw new SlackError("channel_not_found");
    const onlyFor = args.response_type === "in_channel" ? null : userId;
    addMessage(this.state, { app: this.#appOf(message.appId), channel, content, args, onlyFor });
  }
}

/** Forms have JSON inside for what is no text. Methods that only read overlook a JSON body. */
function argumentsOf(request: IncomingMessage, body: string, takesJson: boolean): Arguments {
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("application/json")) return takesJson && body !== "" ? JSON.parse(body) : {};
  const form: Arguments = Object.fromEntries(new URLSearchParams(body));
  if (typeof form.view === "string") form.view = JSON.parse(form.view);
  return form;
}
