// The fields of a request in the OpenAPI document, as they are submitted and as they are answered. Both follow from the
// table of submitted fields.

import { askingChannels } from "../../domain/shown/asking-channels.ts";
import {
  emailCharactersMax,
  escalationsMax,
  laterStagesMax,
  quorumMax,
  ttlMinutesMax,
  ttlMinutesMin,
} from "../../domain/shown/field-limits.ts";
import {
  additions,
  type StoredField,
  type StoredName,
  type SubmittedField,
  storedFields,
  submittedFields,
} from "../../domain/shown/submitted-fields.ts";

export const opaque = (description: string) => ({ description });
export const nullable = (type: string, description: string) => ({
  type: [type, "null"],
  description,
});

/** The properties of a create, in the order of the contract. */
export const createProperties = Object.fromEntries(
  Object.entries<SubmittedField>(submittedFields).map(([name, field]) => [name, submitted(field)]),
);

/** The properties of an answer that were submitted. */
export const answeredProperties = Object.fromEntries(
  storedFields.map((field) => [field.name, answered(field)]),
) as Record<StoredName, object>;

const optional = new Set<string>([...additions.map(({ name }) => name), "approvals"]);

/** All but those that are answered only where they were given, or asked for. */
export function requiredOf(properties: object): string[] {
  return Object.keys(properties).filter((name) => !optional.has(name));
}

function submitted(field: SubmittedField): object {
  const { sentence } = field;
  switch (field.kind) {
    case "required_text":
      return {
        type: "string",
        minLength: 1,
        maxLength: field.charactersMax,
        description: sentence,
      };
    case "text":
      return { ...nullable("string", sentence), maxLength: field.charactersMax };
    case "texts":
      return {
        ...nullable("array", sentence),
        maxItems: field.itemsMax,
        items: { type: "string", maxLength: field.charactersMax },
      };
    case "json":
      return opaque(sentence);
    case "approver":
      return { type: "string", maxLength: emailCharactersMax, description: sentence };
    case "minutes":
      return {
        ...nullable("integer", sentence),
        minimum: ttlMinutesMin,
        maximum: ttlMinutesMax,
      };
    case "address":
      return { ...nullable("string", sentence), format: "email", maxLength: emailCharactersMax };
    case "count":
      return quorum(sentence);
    case "stages":
      return {
        ...nullable("array", sentence),
        maxItems: laterStagesMax,
        items: objectOf({ notify: notify(), quorum: quorum("By default 1.") }, ["notify"]),
      };
    case "escalations":
      return {
        ...nullable("array", sentence),
        maxItems: escalationsMax,
        items: objectOf(
          {
            afterMinutes: { type: "integer", minimum: 1, maximum: ttlMinutesMax },
            notify: notify(),
          },
          ["afterMinutes", "notify"],
        ),
      };
    case "channels":
      return { ...nullable("array", sentence), ...channelItems() };
    case "names":
      return { ...nullable("array", sentence), ...nameItems(field) };
    case "flag":
      return nullable("boolean", sentence);
    case "url":
      return {
        ...nullable("string", sentence),
        format: "uri",
        maxLength: field.charactersMax,
        writeOnly: true,
      };
    default:
      return field satisfies never;
  }
}

function channelItems(): object {
  return { items: { type: "string", enum: askingChannels }, minItems: 1, uniqueItems: true };
}

function nameItems(field: { itemsMax: number; charactersMax: number }): object {
  return {
    items: { type: "string", minLength: 1, maxLength: field.charactersMax },
    minItems: 1,
    maxItems: field.itemsMax,
    uniqueItems: true,
  };
}

function quorum(sentence: string): object {
  return { ...nullable("integer", sentence), minimum: 1, maximum: quorumMax };
}

function notify(): object {
  const { sentence } = submittedFields.notify;
  return { type: "string", maxLength: emailCharactersMax, description: sentence };
}

function objectOf(properties: object, required: string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}

/** How far several people are: `approvals` of an answer. */
export const approvalsSchema = {
  ...objectOf(
    {
      stage: { type: "integer", minimum: 1, description: "The open stage, counted from 1." },
      revision: {
        type: "integer",
        minimum: 1,
        description: "1 is the agent's payload. Each edit by an approver makes the next.",
      },
      stages: {
        type: "array",
        maxItems: 1 + laterStagesMax,
        items: objectOf(
          {
            notify: { type: "string", description: "As submitted." },
            required: { type: "integer", minimum: 1, maximum: quorumMax },
            votes: {
              type: "array",
              items: voteSchema(),
              description: "All of them. Approvals of earlier revisions no longer count.",
            },
          },
          ["notify", "required", "votes"],
        ),
      },
    },
    ["stage", "revision", "stages"],
  ),
  description: "Present only where `quorum`, `then` or `escalate` was given.",
};

function voteSchema(): object {
  const properties = {
    email: { type: "string", description: "Who voted." },
    verdict: { type: "string", enum: ["approve", "reject"] },
    revision: { type: "integer", minimum: 1, description: "What they voted on." },
    at: { type: "string", format: "date-time" },
    note: nullable("string", "What they wrote."),
    via: { type: "string", enum: ["link", "inbox", "slack", "teams"] },
    for: nullable("string", "On whose behalf a delegate voted; null for themselves."),
  };
  return objectOf(properties, Object.keys(properties));
}

function answered({ kind, isAddition }: StoredField): object {
  const description = isAddition ? "As submitted; absent when none was." : "As submitted.";
  switch (kind) {
    case "required_text":
      return { type: "string", description };
    case "text":
    case "address":
      return isAddition ? { type: "string", description } : nullable("string", description);
    case "texts":
      return { type: "array", items: { type: "string" }, description };
    case "channels":
      return { type: "array", ...channelItems(), description };
    case "names":
      return { type: "array", ...nameItems(submittedFields.audience), description };
    case "flag":
      return { type: "boolean", description };
    case "json":
      return opaque(isAddition ? description : "As submitted; null when none was.");
    default:
      return kind satisfies never;
  }
}
