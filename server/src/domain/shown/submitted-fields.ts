// The one table of the fields a caller may submit. The parser, the columns, the answers, the review page, OpenAPI and
// the documentation are derived from it, or the compiler and a test hold them to it. CONTRIBUTING.md: "Add a field".

import {
  agentNameCharactersMax,
  agentStateBytesMax,
  callbackUrlCharactersMax,
  reasoningCharactersMax,
  recentActionCharactersMax,
  recentActionsMax,
  summaryCharactersMax,
} from "./field-limits.ts";

export type SubmittedField = {
  /** Its description in OpenAPI and docs/api.md. */
  sentence: string;
  /** Reviewers see it, so `shownText` must bind it. */
  isShown: boolean;
  /** Came after the first version: answers and webhooks have it only where it was given, so older requests stay as they were. */
  isAddition?: true;
} & (
  | { kind: "required_text" | "text"; charactersMax: number }
  | { kind: "texts"; itemsMax: number; charactersMax: number }
  /** Any JSON. It is never parsed and comes back as the text it was sent as. */
  | { kind: "json"; bytesMax?: number }
  /** These aren't kept as they came: one becomes the approver, one the expiry. */
  | { kind: "approver" | "minutes" }
  /** Kept, but never answered: an address where somebody believes the outcome is a secret. */
  | { kind: "url"; charactersMax: number }
);

/** In the order of the contract: the first flawed field is the one that is refused. */
export const submittedFields = {
  summary: {
    kind: "required_text",
    charactersMax: summaryCharactersMax,
    isShown: true,
    sentence: "What the agent wants to do. The approver reads it first.",
  },
  payload: {
    kind: "json",
    isShown: true,
    sentence: "The exact action. Shown to the approver, who may edit it.",
  },
  notify: {
    kind: "approver",
    isShown: false,
    sentence: "One plain e-mail address, or `group:<key>`.",
  },
  agentName: {
    kind: "text",
    charactersMax: agentNameCharactersMax,
    isShown: true,
    sentence: "Shown to the approver.",
  },
  metadata: {
    kind: "json",
    isShown: false,
    sentence: "Opaque; echoed in reads and webhooks.",
  },
  agentState: {
    kind: "json",
    bytesMax: agentStateBytesMax,
    isShown: false,
    sentence: "Serialized agent context, at most 256KB of JSON. Never shown to the approver.",
  },
  reasoning: {
    kind: "text",
    charactersMax: reasoningCharactersMax,
    isShown: true,
    sentence: "Why the agent wants it. Shown above the payload.",
  },
  recentActions: {
    kind: "texts",
    itemsMax: recentActionsMax,
    charactersMax: recentActionCharactersMax,
    isShown: true,
    sentence: "What the agent did just before.",
  },
  ttlMinutes: {
    kind: "minutes",
    isShown: false,
    sentence: "Minutes until it expires; by default the workspace's expiry.",
  },
  callbackUrl: {
    kind: "url",
    charactersMax: callbackUrlCharactersMax,
    isShown: false,
    sentence:
      "Where this request's outcome is POSTed, signed, beside the webhooks. Never answered.",
  },
} as const satisfies Record<string, SubmittedField>;

type Fields = typeof submittedFields;

export type SubmittedName = keyof Fields;
/** The fields that are kept as they came, and answered. */
export type StoredName = Exclude<SubmittedName, "notify" | "ttlMinutes" | "callbackUrl">;
/** The fields that reviewers see. */
export type ShownName = {
  [Name in StoredName]: Fields[Name]["isShown"] extends true ? Name : never;
}[StoredName];
/** The texts among these. */
export type ShownTextName = {
  [Name in ShownName]: Fields[Name]["kind"] extends "text" | "required_text" ? Name : never;
}[ShownName];

/** The fields that came after the first version. */
export type AdditionName = {
  [Name in StoredName]: Fields[Name] extends { isAddition: true } ? Name : never;
}[StoredName];

/** The column of each field. Their order is that of the columns in statements. */
export const columnOf = {
  summary: "summary",
  payload: "payload",
  metadata: "metadata",
  agentState: "agent_state",
  reasoning: "reasoning",
  recentActions: "recent_actions",
  agentName: "agent_name",
} as const satisfies Record<StoredName, string>;

type Values<Json> = {
  required_text: string;
  text: string | null;
  texts: readonly string[];
  json: Json | null;
};

/** The submitted values, as the code knows them. JSON is its exact text. */
export type Submitted<Json extends string = string> = {
  [Name in StoredName]: Values<Json>[Fields[Name]["kind"]];
};

export type StoredField = {
  name: StoredName;
  column: (typeof columnOf)[StoredName];
  kind: keyof Values<string>;
  isShown: boolean;
  isAddition: boolean;
};

export const storedFields: readonly StoredField[] = Object.entries(columnOf).map(
  ([key, column]) => {
    const name = key as StoredName;
    const field: SubmittedField & { kind: keyof Values<string> } = submittedFields[name];
    const { kind, isShown, isAddition = false } = field;
    return { name, column, kind, isShown, isAddition };
  },
);

/** The other fields of a caller who submits a summary alone. */
export const nothingElse = Object.fromEntries<unknown>(
  storedFields
    .filter(({ kind }) => kind !== "required_text")
    .map(({ name, kind }) => [name, kind === "texts" ? [] : null]),
) as Omit<Submitted<never>, "summary">;

export const shownFields = storedFields.filter(({ isShown }) => isShown);
export const additions = storedFields.filter(({ isAddition }) => isAddition);

/** The submitted fields of an object that holds more. */
export function submittedOf(from: Submitted): Submitted {
  return picked(from, storedFields) as Submitted;
}

/** The fields that reviewers see, of an object that holds more. */
export function shownOf(from: Pick<Submitted, ShownName>): Pick<Submitted, ShownName> {
  return picked(from, shownFields) as Pick<Submitted, ShownName>;
}

function picked(from: Record<string, unknown>, fields: readonly StoredField[]) {
  return Object.fromEntries<unknown>(fields.map(({ name }) => [name, from[name]]));
}
