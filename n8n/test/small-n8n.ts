// A small n8n: its own loader and its own engine (n8n-core), and in place of its server what that does with a waiting
// execution, written from waiting-webhooks.ts and webhook-helpers.ts of n8n 2.41. Executions are kept as texts, as in a
// database, so that another instance can go on with them.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type {
  IExecuteFunctions,
  INode,
  INodeType,
  INodeTypes,
  IRun,
  IRunExecutionData,
  IWebhookResponseData,
  IWorkflowExecuteAdditionalData,
} from "n8n-workflow";

export const folder = mkdtempSync(join(tmpdir(), "countersign-n8n-"));
process.env.N8N_USER_FOLDER = folder;
process.env.N8N_ENCRYPTION_KEY = "for these tests";

const require = createRequire(import.meta.url);
const core = require("n8n-core") as typeof import("n8n-core");
const { Workflow } = require("n8n-workflow") as typeof import("n8n-workflow");
const root = join(import.meta.dirname, "..", "..");

/** The packed node in a fresh folder of community nodes. */
export async function install(): Promise<string> {
  const nodes = join(folder, "nodes");
  mkdirSync(nodes);
  writeFileSync(join(nodes, "package.json"), '{"private":true}');
  const name = "countersign-n8n-nodes-countersign-0.1.0.tgz";
  const packed = join(root, "web", "dist", "packages", name);
  const options = ["--offline", "--legacy-peer-deps", "--ignore-scripts", "--no-audit"];
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: folder };
  await promisify(execFile)("npm", ["install", ...options, packed], { cwd: nodes, env });
  // n8n lends its own to community nodes.
  const lent = join(import.meta.dirname, "..", "node_modules", "n8n-workflow");
  symlinkSync(lent, join(nodes, "node_modules", "n8n-workflow"));
  return join(nodes, "node_modules", "@countersign", "n8n-nodes-countersign");
}

export async function load(place: string) {
  const loader = new core.PackageDirectoryLoader(place);
  await loader.loadAll();
  return loader;
}

type Kept = { status: "running" | "waiting" | "finished"; text: string; waitTill: string };

export type Gate = {
  credential: { url: string; apiKey: string };
  parameters: object;
  /** As in the node's settings, such as `onError`. */
  settings?: object;
};

const gateName = 'The "gate"';

export class SmallN8n {
  readonly #type: INodeType;
  readonly #gate: Gate;
  readonly #server: http.Server;
  /** By their ids. */
  readonly executions: Map<string, Kept>;
  /** What the node behind the gate got, each time it ran. */
  readonly ran: unknown[][] = [];
  /** The next calls find no n8n. */
  isAway = false;

  constructor(type: INodeType, gate: Gate, executions: Map<string, Kept> = new Map()) {
    this.#type = type;
    this.#gate = gate;
    this.executions = executions;
    this.#server = http.createServer((request, response) => {
      request.resume().on("end", () => {
        const id = /^\/webhook-waiting\/([\w-]+)/.exec(request.url ?? "")?.[1] ?? "";
        const answer = (status: number, body: object) =>
          response.writeHead(status).end(JSON.stringify(body));
        if (this.isAway) return request.socket.destroy();
        if (request.method !== "POST") return answer(404, {});
        return void this.#resume(id, answer).catch((error) =>
          answer(500, { message: error.message }),
        );
      });
    });
  }

  async start(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return this.port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  urlOf(id: string): string {
    return `http://127.0.0.1:${this.port}/webhook-waiting/${id}`;
  }

  async run(id: string, items: object[]): Promise<IRun> {
    const execute = new core.WorkflowExecute(this.#data(id), "trigger");
    const workflow = this.#workflow(items);
    const startNode = workflow.getNode("Start") as INode;
    this.executions.set(id, { status: "running", text: "", waitTill: "" });
    return this.#keep(id, await execute.run({ workflow, startNode }));
  }

  /** What n8n does when the time of a wait is over. */
  async wake(id: string): Promise<IRun> {
    const data = JSON.parse(this.executions.get(id)?.text ?? "");
    const execute = new core.WorkflowExecute(this.#data(id), "trigger", data);
    return this.#keep(id, await execute.processRunExecutionData(this.#workflow([])));
  }

  async #resume(id: string, answer: (status: number, body: object) => unknown): Promise<void> {
    const kept = this.executions.get(id);
    if (kept === undefined) return void answer(404, {});
    if (kept.status !== "waiting") return void answer(409, { message: "running or finished" });
    const data: IRunExecutionData = JSON.parse(kept.text);
    const [entry] = data.executionData?.nodeExecutionStack ?? [];
    if (entry === undefined) throw new Error("nothing waits");
    entry.node.disabled = true;
    delete data.waitTill;
    data.resultData.runData[gateName]?.pop();
    let hasAnswered = false;
    const response = {
      status: (code: number) => ({
        json: (body: object) => {
          hasAnswered = true;
          answer(code, body);
        },
      }),
    };
    const result = await this.#callNode(id, data, response);
    if (result.workflowData === undefined) {
      if (!hasAnswered) answer(200, {});
      return;
    }
    // Another call may have been quicker.
    if (this.executions.get(id)?.status !== "waiting") return void answer(409, {});
    this.executions.set(id, { ...kept, status: "running" });
    entry.data.main = result.workflowData;
    entry.metadata = { ...entry.metadata, forwardAllOutputs: true } as NonNullable<
      typeof entry.metadata
    >;
    answer(200, { message: "Workflow was started" });
    const execute = new core.WorkflowExecute(this.#data(id), "trigger", data);
    this.#keep(id, await execute.processRunExecutionData(this.#workflow([])));
  }

  async #callNode(
    id: string,
    data: IRunExecutionData,
    response: object,
  ): Promise<IWebhookResponseData> {
    const workflow = this.#workflow([]);
    const node = workflow.getNode(gateName);
    if (node === null) throw new Error("no gate");
    const request = { body: {}, headers: {}, params: {}, query: {} };
    const additional = { ...this.#data(id), httpRequest: request, httpResponse: response };
    const webhook = { webhookDescription: { name: "default" } };
    const context = new core.WebhookContext(
      workflow,
      node,
      additional as never,
      "trigger",
      webhook as never,
      [],
      data,
    );
    return (await this.#type.webhook?.call(context as never)) as IWebhookResponseData;
  }

  #keep(id: string, run: IRun): IRun {
    const status = run.waitTill ? "waiting" : "finished";
    const waitTill = run.waitTill ? new Date(run.waitTill).toISOString() : "";
    this.executions.set(id, { status, text: JSON.stringify(run.data), waitTill });
    return run;
  }

  #workflow(items: object[]) {
    const { ran } = this;
    const description = (name: string) => ({
      displayName: name,
      name,
      group: [],
      version: 1,
      description: "",
      defaults: { name },
      inputs: ["main"],
      outputs: ["main"],
      properties: [],
    });
    const types: Record<string, unknown> = {
      gate: this.#type,
      start: {
        description: description("start"),
        execute: async () => [items.map((json) => ({ json }))],
      },
      after: {
        description: description("after"),
        async execute(this: IExecuteFunctions) {
          ran.push(this.getInputData().map(({ json }) => json));
          return [this.getInputData()];
        },
      },
    };
    const node = (name: string, type: string, more: object = {}) => ({
      id: name,
      name,
      type,
      typeVersion: 1,
      position: [0, 0] as [number, number],
      parameters: {},
      ...more,
    });
    const to = (name: string) => ({ main: [[{ node: name, type: "main" as const, index: 0 }]] });
    return new Workflow({
      id: "workflow",
      nodes: [
        node("Start", "start"),
        node(gateName, "gate", {
          parameters: this.#gate.parameters,
          credentials: { countersignApi: { id: "1", name: "Countersign" } },
          ...this.#gate.settings,
        }),
        node("After", "after"),
      ] as never,
      connections: { Start: to(gateName), [gateName]: to("After") },
      active: true,
      nodeTypes: {
        getByName: (type: string) => types[type],
        getByNameAndVersion: (type: string) => types[type],
        getKnownTypes: () => ({}),
      } as INodeTypes,
      settings: { executionOrder: "v1" },
    });
  }

  #data(id: string): IWorkflowExecuteAdditionalData {
    const { credential } = this.#gate;
    const base = `http://127.0.0.1:${this.port}`;
    const workflowData = { id: "workflow", name: "w", nodes: [], connections: {}, active: true };
    const credentialsHelper = {
      getParentTypes: () => [],
      isCredentialUsableByNode: () => true,
      getDecrypted: async () => credential,
      preAuthentication: async () => undefined,
      runPreAuthentication: async () => undefined,
      authenticate: async (_: unknown, __: string, options: { headers?: object }) => ({
        ...options,
        headers: { ...options.headers, Authorization: `Bearer ${credential.apiKey}` },
      }),
    };
    return {
      executionId: id,
      credentialsHelper,
      hooks: new core.ExecutionLifecycleHooks("trigger", id, workflowData as never),
      webhookWaitingBaseUrl: `${base}/webhook-waiting`,
      formWaitingBaseUrl: `${base}/form-waiting`,
      webhookBaseUrl: base,
      webhookTestBaseUrl: base,
      restApiUrl: base,
      instanceBaseUrl: base,
      variables: {},
      setExecutionStatus: () => {},
    } as unknown as IWorkflowExecuteAdditionalData;
  }
}
