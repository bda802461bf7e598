// The input and output of each tool, as schemas for clients and models. They mention sizes, but only the service checks
// them, so that one place knows them.

import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ApprovalRequest } from "../../sdk/src/index.ts";
import { nextStepOf } from "./next-step.ts";

/** Many clients cut a call after 60 seconds. */
export const awaitSecondsMax = 50;
export const listRowsMax = 50;

/** Half of a surrogate pair cannot be written into an address. */
const wellFormed = z
  .string()
  .refine((text) => text.isWellFormed(), { error: "This text is not well-formed Unicode." });

const requestId = wellFormed.min(1).describe("The id that request_approval returned.");

/** Takes any value. It is declared as an object, because many clients can't offer an argument without a type. */
const anyJson = (description: string, value: z.ZodType = z.unknown()) =>
  value.optional().meta({ type: "object", additionalProperties: true, description });

/** The approver must see and edit fields. A text with JSON in it would be one long line in quotes. */
const shownJson = z.unknown().refine((value) => !holdsJson(value), {
  error:
    'is a text with JSON in it. Send the JSON value itself, such as {"orderId": 1042}, without quotes around it, so that the approver sees its fields.',
});

/** Whether a value is the text of a JSON object or array, however often it was written as a text. */
function holdsJson(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const text = withoutWrapping(value);
  if (!/^["[{]/.test(text)) return false;
  try {
    const held: unknown = JSON.parse(text);
    return typeof held === "string" ? holdsJson(held) : true;
  } catch {
    return false;
  }
}

/** Models put JSON between the fences of Markdown, and programs a byte order mark before it (which trim takes, too). */
function withoutWrapping(value: string): string {
  const text = value.trim();
  if (!text.startsWith("```") || !text.endsWith("```")) return text;
  return text.slice(text.search(/[\s"[{]|$/), -3).trim();
}

/**
 * Some models write numbers as texts. Guessing what "1e3" or "1 hour" means is not ours to do. A number that `JSON.parse`
 * would not keep, such as -0 or 1e400, is an object here, and a model must not read that it sent one.
 */
const numberSuchAs = (example: number) =>
  z.number({
    error: ({ input }) => {
      if (typeof input === "string") {
        return `must be a number such as ${example}, not a text: send it without quotes.`;
      }
      const text = JSON.stringify(input) ?? "";
      return /^-?[0-9]/.test(text)
        ? `must be a number such as ${example}, not ${text}.`
        : undefined;
    },
  });

const quorumInput = (description: string) =>
  numberSuchAs(2).optional().describe(`${description} A whole number from 1 to 20; 1 unless told.`);

/** A model can ask for more people than it must. Nothing here asks for fewer: the workspace's own rules hold anyway. */
const votingInput = {
  quorum: quorumInput(
    "How many different people of notify must approve. Give it if you were told a number.",
  ),
  then: z
    .array(
      z.strictObject({
        notify: z.string().describe("An e-mail address, or group:KEY."),
        quorum: quorumInput("How many of them must approve."),
      }),
    )
    .optional()
    .describe(
      "Who must approve after that, stage by stage: up to 4. Give it only if you were told whom. One person counts once in all stages together.",
    ),
  requestedBy: z
    .string()
    .optional()
    .describe(
      "The e-mail address of the person you do this for, if you know it. That person can never approve it.",
    ),
  escalate: z
    .array(
      z.strictObject({
        afterMinutes: numberSuchAs(60).describe("Whole minutes that a stage may stay open."),
        notify: z.string().describe("An e-mail address, or group:KEY."),
      }),
    )
    .optional()
    .describe(
      "Whom to ask too if a stage is still open after so many minutes: up to 5 steps. Nobody is left out by it, and the number of people stays the same. Give it only if you were told whom.",
    ),
};

export const createInput = z.strictObject({
  summary: z
    .string()
    .describe("What you want to do, in one sentence a person can judge. At most 500 characters."),
  payload: anyJson(
    "Exactly what you would execute, as a JSON value (an object, not a text with JSON in it). The approver sees it and may edit it.",
    shownJson,
  ),
  notify: z
    .string()
    .optional()
    .describe(
      "Leave this out: the workspace has set who decides. Give it only if you were told whom to ask: an e-mail address, or group:KEY for a group of the workspace. Never make one up.",
    ),
  agentName: z.string().optional().describe("Your name. At most 100 characters."),
  reasoning: z
    .string()
    .optional()
    .describe("Why you want to do it, for the approver. At most 2000 characters."),
  recentActions: z
    .array(z.string())
    .optional()
    .describe("What you did before, oldest first. At most 10, each of at most 300 characters."),
  metadata: anyJson(
    "Any JSON value that should come back with the decision. Not shown to the approver.",
  ),
  agentState: anyJson(
    "Any JSON value that you need to go on later. At most 262144 bytes. Not shown to the approver.",
  ),
  ttlMinutes: numberSuchAs(60)
    .optional()
    .describe("How long somebody may decide: 5 to 10080 whole minutes. Mostly a day unless told."),
  ...votingInput,
  channels: z
    .array(z.enum(["mail", "push", "slack", "slack_link", "teams"]))
    .optional()
    .describe(
      "Leave this out unless you were told by which channels people may be asked: mail, push, slack, slack_link (without the payload), teams. mail is always one of them.",
    ),
  audience: z
    .array(z.string())
    .optional()
    .describe(
      "Leave this out unless you were told for whom receipts of this request are: up to 5 names, each of at most 200 characters without white space.",
    ),
  requireSignature: z
    .boolean()
    .optional()
    .describe(
      "Give true if you were told that whoever approves must sign with a passkey. false changes nothing: what the workspace or a group demands holds.",
    ),
  idempotencyKey: z
    .string()
    .optional()
    .describe(
      "Give the same text when you repeat a call that may have been done already: it then returns the same request instead of asking people twice. At most 255 characters.",
    ),
});

export const awaitInput = z.strictObject({
  requestId,
  maxSeconds: numberSuchAs(awaitSecondsMax)
    .int()
    .min(1)
    .max(awaitSecondsMax)
    .default(awaitSecondsMax)
    .describe("How long this call may wait."),
});

export const idInput = z.strictObject({ requestId });

export const listInput = z.strictObject({
  limit: numberSuchAs(20).int().min(1).max(listRowsMax).default(20).describe("Rows of one page."),
  cursor: z.string().optional().describe("The nextCursor of the page before."),
});

/** Some models fill every field, so null counts as not given. It isn't declared: not every client could read that. */
export function ignoringNulls<Schema extends StandardSchemaWithJSON>(
  schema: Schema,
): StandardSchemaWithJSON<
  StandardSchemaWithJSON.InferInput<Schema>,
  StandardSchemaWithJSON.InferOutput<Schema>
> {
  const standard = schema["~standard"];
  const validate: typeof standard.validate = (value, options) =>
    standard.validate(withoutNulls(value), options);
  return { "~standard": { ...standard, validate } };
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

const status = z
  .enum(["PENDING", "APPROVED", "REJECTED", "EXPIRED", "CANCELLED"])
  .describe("Only APPROVED permits the action.");
const nextStep = z.string().describe("What to do now.");
const time = (description: string) => z.string().describe(description);

const approvals = z
  .object({
    stage: z.number().describe("The open stage, counted from 1."),
    revision: z
      .number()
      .describe("1 is what you asked for. Each edit by an approver makes the next."),
    stages: z.array(
      z.object({
        notify: z.string(),
        required: z.number().describe("How many different people must approve in it."),
        votes: z
          .array(
            z.object({
              email: z.string(),
              verdict: z.enum(["approve", "reject"]),
              revision: z.number(),
              at: z.string(),
              note: z.string().nullable(),
              via: z.enum(["link", "inbox", "slack", "teams"]),
              for: z.string().nullable().describe("On whose behalf."),
            }),
          )
          .describe("Approvals of an earlier revision no longer count."),
      }),
    ),
  })
  .optional()
  .describe(
    "How far several people are. Present only if more than one may have a say. It is no permission: only the status is.",
  );

const decisionFields = {
  id: z.string(),
  status,
  nextStep,
  summary: z.string(),
  resolvedByEmail: z.string().nullable().describe("Who decided; null unless a person did."),
  resolutionNote: z.string().nullable().describe("What that person wrote."),
  resolvedAt: z.string().nullable(),
  createdAt: time("When it was created."),
  expiresAt: time("When it expires if nobody decides."),
  approvals,
};

/** Small: what a model needs to continue, and the payload only if it may be executed. */
export const decisionOutput = z.object({
  ...decisionFields,
  effectivePayload: z
    .unknown()
    .optional()
    .describe("Execute exactly this. Present only when the status is APPROVED."),
  wasEdited: z.boolean().describe("Whether the approver changed the payload."),
});

/** All fields of the request. */
export const requestOutput = z.object({
  ...decisionFields,
  object: z.literal("approval_request"),
  payload: z.unknown().describe("As it was asked for. Not what to execute."),
  modifiedPayload: z.unknown().describe("As the approver edited it; null when unchanged."),
  effectivePayload: z
    .unknown()
    .describe("Execute exactly this, only when the status is APPROVED: the edit or the payload."),
  metadata: z.unknown(),
  agentState: z.unknown(),
  reasoning: z.string().nullable(),
  recentActions: z.array(z.string()),
  agentName: z.string().nullable(),
  approverEmail: z.string().nullable(),
  approverGroup: z.object({ key: z.string(), name: z.string() }).nullable(),
  requestedBy: z.string().optional().describe("The person who can't approve it."),
  channels: z.array(z.string()).optional().describe("The channels by which people may be asked."),
  audience: z.array(z.string()).optional().describe("For whom its receipts are."),
  requireSignature: z.boolean().optional().describe("As it was asked for."),
});

const pendingRow = requestOutput.pick({
  id: true,
  summary: true,
  agentName: true,
  approverEmail: true,
  approverGroup: true,
  createdAt: true,
  expiresAt: true,
});

export const listOutput = z.object({
  requests: z.array(pendingRow).describe("Newest first."),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable().describe("Give it as cursor for the next page."),
});

export function toDecision(request: ApprovalRequest): z.infer<typeof decisionOutput> {
  const { id, status, summary, resolvedByEmail, resolutionNote, resolvedAt } = request;
  const { createdAt, expiresAt, effectivePayload, modifiedPayload, approvals } = request;
  return {
    id,
    status,
    nextStep: nextStepOf(request),
    summary,
    ...(status === "APPROVED" ? { effectivePayload } : {}),
    wasEdited: modifiedPayload !== null,
    resolvedByEmail,
    resolutionNote,
    resolvedAt,
    createdAt,
    expiresAt,
    ...(approvals === undefined ? {} : { approvals }),
  };
}

export function toRequest(request: ApprovalRequest): z.infer<typeof requestOutput> {
  return { ...request, nextStep: nextStepOf(request) };
}

export function toPendingRow(request: ApprovalRequest): z.infer<typeof pendingRow> {
  const { id, summary, agentName, approverEmail, approverGroup, createdAt, expiresAt } = request;
  return { id, summary, agentName, approverEmail, approverGroup, createdAt, expiresAt };
}
