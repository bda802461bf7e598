// The node "Countersign": asks a person, puts the execution to wait, and lets it go on with what they approved.
//
// n8n doesn't run a node again when its wait is over. It continues with what `webhook` returns and, when a time was set for
// the wait, with the node's input as if nothing had been asked. So the wait has no end of its own, `webhook` believes
// nothing but the service, and it never throws: n8n would continue then, too (decision 46).

import type {
  IExecuteFunctions,
  INodeExecutionData,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
} from "n8n-workflow";
import { NodeConnectionTypes, NodeOperationError, WAIT_INDEFINITELY } from "n8n-workflow";
import { questionOf } from "./question.ts";
import { create, exactValue, problemOf, read, readRequest, redeem, type Told } from "./service.ts";

const idName = "countersignRequestId";

export class Countersign implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Countersign",
    name: "countersign",
    icon: "file:countersign.svg",
    group: ["transform"],
    version: 1,
    subtitle: "Ask and wait",
    description: "Ask a person, wait, and go on only with what they approved",
    defaults: { name: "Countersign" },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    // A tool of a model can't wait for a callback.
    usableAsTool: undefined as never,
    credentials: [{ name: "countersignApi", required: true }],
    webhooks: [
      {
        name: "default",
        httpMethod: "POST",
        responseMode: "onReceived",
        path: "",
        restartWebhook: true,
      },
    ],
    properties: [
      {
        displayName: "Summary",
        name: "summary",
        type: "string",
        default: "",
        required: true,
        placeholder: "e.g. Refund order 1042 (49.00 EUR)",
        description: "What will be done. The approver reads it first.",
      },
      {
        displayName: "Payload",
        name: "payload",
        type: "json",
        default: "",
        description: "The exact action as JSON. The approver sees it and may edit it.",
      },
      {
        displayName: "Approver",
        name: "notify",
        type: "string",
        default: "",
        required: true,
        placeholder: "e.g. ops@example.com",
        description: "An email address, or <code>group:</code> and the key of a group",
      },
      {
        displayName: "Expires After (Minutes)",
        name: "ttlMinutes",
        type: "number",
        default: 1440,
        typeOptions: { minValue: 5, maxValue: 10080 },
        description: "Nobody can approve after that",
      },
      {
        displayName: "When Not Approved",
        name: "whenNotApproved",
        type: "options",
        default: "stop",
        options: [
          { name: "Stop", value: "stop", description: "No later node runs" },
          {
            name: "Continue",
            value: "continue",
            description: "Later nodes run, and must look at the field approved",
          },
        ],
        description: "What happens after a rejection, an expiry or a cancellation",
      },
      {
        displayName: "Options",
        name: "options",
        type: "collection",
        placeholder: "Add Option",
        default: {},
        options: [
          {
            displayName: "Agent Name",
            name: "agentName",
            type: "string",
            default: "n8n",
            description: "Shown to the approver",
          },
          {
            displayName: "Approvers Needed",
            name: "quorum",
            type: "number",
            default: 2,
            typeOptions: { minValue: 1, maxValue: 20 },
            description: "How many different people must approve; one without this option",
          },
          {
            displayName: "Audience",
            name: "audience",
            type: "string",
            default: "",
            placeholder: "e.g. https://pay.example.com",
            description:
              "For whom receipts are valid, up to 5 names with commas between; the workspace without this option",
          },
          {
            displayName: "Channels",
            name: "channels",
            type: "multiOptions",
            default: ["mail"],
            options: [
              { name: "Mail", value: "mail" },
              { name: "Push", value: "push" },
              { name: "Slack", value: "slack" },
              { name: "Slack Without Payload", value: "slack_link" },
              { name: "Teams", value: "teams" },
            ],
            description: "By which people may be asked, mail always; all without this option",
          },
          {
            displayName: "Escalation",
            name: "escalate",
            type: "json",
            default: '[{"afterMinutes": 60, "notify": ""}]',
            description: "Whom to ask too if nobody has decided after so many minutes",
          },
          {
            displayName: "Later Stages",
            name: "then",
            type: "json",
            default: '[{"notify": "", "quorum": 1}]',
            description: "Who must approve after the first approvers, stage by stage",
          },
          {
            displayName: "Reasoning",
            name: "reasoning",
            type: "string",
            default: "",
            description: "Why. Shown above the payload.",
          },
          {
            displayName: "Requested By",
            name: "requestedBy",
            type: "string",
            default: "",
            placeholder: "e.g. eve@example.com",
            description: "The person for whom this is done. They can't approve it.",
          },
          {
            displayName: "Require Signature",
            name: "requireSignature",
            type: "boolean",
            default: true,
            description: "Whether those who approve must sign with a passkey",
          },
        ],
      },
    ],
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    try {
      const items = this.getInputData();
      refuseSettings(this, items.length);
      const request = readRequest(...(await ask(this)));
      if (request === null) {
        throw new NodeOperationError(this.getNode(), "The answer tells of no request.");
      }
      this.getContext("node")[idName] = request.id;
      await this.putExecutionToWait(WAIT_INDEFINITELY);
      return [items];
    } catch (error) {
      return end(this, error);
    }
  }

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    try {
      return await resume(this);
    } catch (error) {
      this.logger.error(`Countersign: ${error instanceof Error ? error.message : error}`);
      return stay(this, 503, "The decision could not be looked up. The execution waits on.");
    }
  }
}

function refuseSettings(context: IExecuteFunctions, itemCount: number): void {
  const node = context.getNode();
  if (node.alwaysOutputData === true) {
    throw new NodeOperationError(
      node,
      "With Always Output Data, later nodes would run after a rejection. Switch it off in the settings of this node.",
    );
  }
  if (itemCount === 1) return;
  throw new NodeOperationError(
    node,
    `An execution can wait for one question at a time, and ${itemCount} items came in. Put Loop Over Items before this node.`,
  );
}

/** Where a node's errors are to be continued after, n8n would go on with its input, as if nothing had been asked. */
async function end(context: IExecuteFunctions, error: unknown): Promise<INodeExecutionData[][]> {
  if (!context.continueOnFail()) throw error;
  context.logger.error(`Countersign: ${error instanceof Error ? error.message : error}`);
  // n8n would make an item out of none. This wait is for nothing, and ends when somebody stops the execution.
  if (context.getNode().alwaysOutputData === true) {
    await context.putExecutionToWait(WAIT_INDEFINITELY);
  }
  return [[]];
}

/** Named by the execution, so that a retry of the node is the same question. */
async function ask(context: IExecuteFunctions): Promise<Parameters<typeof readRequest>> {
  const node = context.getNode();
  const evaluate = (expression: string) => String(context.evaluateExpression(expression, 0) ?? "");
  const executionId = context.getExecutionId();
  if (!executionId) throw new NodeOperationError(node, "The execution has no id to be resumed by.");
  const key = `n8n-${context.getInstanceId()}-${executionId}-${node.id}-${evaluate("{{ $runIndex }}")}`;
  let body: string;
  try {
    body = questionOf(context, evaluate("{{ $execution.resumeUrl }}"));
  } catch (error) {
    throw new NodeOperationError(node, error as Error);
  }
  const answer = await create(context, body, key);
  if (answer.status === 201) return [answer, null];
  throw new NodeOperationError(node, problemOf(answer));
}

/** Anybody may call: what they say is not even read. */
async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
  const name = JSON.stringify(context.getNode().name);
  const id = context.evaluateExpression(`{{ $node[${name}].context[${JSON.stringify(idName)}] }}`);
  if (typeof id !== "string") return stay(context, 409, "This execution has asked nothing.");
  const request = readRequest(await read(context, id), id);
  if (request === null) return stay(context, 503, "The service tells nothing of the request.");
  if (request.status === "PENDING") return stay(context, 409, "Nobody has decided yet.");
  if (request.status !== "APPROVED") return notApproved(context, request);
  const answer = await redeem(context, id);
  const redeemed = readRequest(answer, id);
  if (redeemed?.status === "APPROVED" && redeemed.isRedeemed) return goOn(approvedItem(redeemed));
  return stay(context, answer.status === 409 ? 409 : 503, problemOf(answer));
}

function notApproved(context: IWebhookFunctions, request: Told): IWebhookResponseData {
  if (context.getNodeParameter("whenNotApproved", "stop") !== "continue") return goOn();
  const { id, status, resolutionNote: note } = request;
  return goOn({ json: { approved: false, requestId: id, status, note } });
}

function approvedItem({ id, status, isEdited, resolutionNote, effectivePayload }: Told) {
  const value = exactValue(effectivePayload);
  const json = {
    approved: true,
    requestId: id,
    status,
    edited: isEdited,
    note: resolutionNote,
    ...(value === undefined ? {} : { effectivePayload: value }),
    effectivePayloadText: effectivePayload,
  };
  return { json } as INodeExecutionData;
}

/** Without an item, no later node runs. */
function goOn(...items: INodeExecutionData[]): IWebhookResponseData {
  return { workflowData: [items] };
}

/** Not a 2xx: the service tries again. The execution waits on. */
function stay(context: IWebhookFunctions, status: number, message: string): IWebhookResponseData {
  context.getResponseObject().status(status).json({ message });
  return { noWebhookResponse: true };
}
