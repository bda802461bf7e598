// The one table of the fields a caller may submit. The parser, the columns, the answers, the review page, OpenAPI and
// the documentation are derived from it, or the compiler and a test hold them to it. CONTRIBUTING.md: "Add a field".

import type { AskingChannel } from "./asking-channels.ts";
import {
  agentNameCharactersMax,
  agentStateBytesMax,
  audienceCharactersMax,
  audiencesMax,
  callbackUrlCharactersMax,
  reasoningCharactersMax,
  recentActionCharactersMax,
  recentActionsMax,
  summaryCharactersMax,
} from "./field-limits.ts";

type ShownAs = {
  label: string;
  /** Its name in the middle of a sentence. */
  place: string;
};

/**
 * An addition came after the first version: answers and webhooks have it only where it was given, so older requests stay
 * as they were.
 */
export type SubmittedField = {
  /** Its description in OpenAPI and docs/api.md. */
  sentence: string;
} & (
  | { isShown: false; isAddition?: true }
  /** Reviewers see it, so `shownText` must bind it. */
  | { isShown: true; isAddition?: never }
  /** Every page and message draws it under this label, and `shownText` binds it. */
  | (ShownAs & { isShown: true; isAddition: true; kind: "text" | "address" | "names" })
) &
  (
    | { kind: "required_text" | "text"; charactersMax: number }
    | { kind: "texts"; itemsMax: number; charactersMax: number }
    /** Any JSON. It is never parsed and comes back as the text it was sent as. */
    | { kind: "json"; bytesMax?: number }
    /** Kept and answered like a text. */
    | { kind: "address" }
    /** Names of channels, kept and answered as a list. */
    | { kind: "channels" }
    /** Names without white space, kept and answered as a list. */
    | { kind: "names"; itemsMax: number; charactersMax: number }
    | { kind: "flag" }
    /** These aren't kept as they came: they become the approver, the expiry, stages and steps. */
    | { kind: "approver" | "minutes" | "count" | "stages" | "escalations" }
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
  quorum: {
    kind: "count",
    isShown: false,
    sentence: "How many different people must approve in the first stage, from 1 to 20.",
  },
  then: {
    kind: "stages",
    isShown: false,
    sentence:
      "Up to 4 later stages, each asked once the one before it is complete: `notify` and `quorum`.",
  },
  requestedBy: {
    kind: "address",
    isShown: true,
    isAddition: true,
    label: "For, says the agent",
    place: "for whom the agent acts",
    sentence: "The person for whom the agent acts. They can never approve this request.",
  },
  escalate: {
    kind: "escalations",
    isShown: false,
    sentence:
      "Up to 5 steps: if a stage is still open `afterMinutes` after it began, `notify` is asked too.",
  },
  channels: {
    kind: "channels",
    isShown: false,
    isAddition: true,
    sentence:
      "The channels by which people may be asked. `mail` is always one; without the field, all are allowed.",
  },
  audience: {
    kind: "names",
    itemsMax: audiencesMax,
    charactersMax: audienceCharactersMax,
    isShown: true,
    isAddition: true,
    label: "Valid only for",
    place: "those it is valid for",
    sentence: "For whom receipts of this request are valid; by default the workspace's id.",
  },
  requireSignature: {
    kind: "flag",
    isShown: false,
    isAddition: true,
    sentence:
      "`true`: nobody approves without a passkey. `false` doesn't lower what workspace and groups ask.",
  },
} as const satisfies Record<string, SubmittedField>;

type Fields = typeof submittedFields;

export type SubmittedName = keyof Fields;
/** The fields that are kept as they came, and answered. */
export type StoredName = Exclude<
  SubmittedName,
  "notify" | "ttlMinutes" | "callbackUrl" | "quorum" | "then" | "escalate"
>;
/** The fields that reviewers see. */
export type ShownName = {
  [Name in StoredName]: Fields[Name]["isShown"] extends true ? Name : never;
}[StoredName];
/** Of the first version, each with a place of its own on the page. */
export type FirstShownName = Exclude<ShownName, AdditionName>;
/** The texts among these. */
export type ShownTextName = {
  [Name in FirstShownName]: Fields[Name]["kind"] extends "text" | "required_text" ? Name : never;
}[FirstShownName];

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
  requestedBy: "requested_by",
  channels: "channels",
  audience: "audience",
  requireSignature: "require_signature",
} as const satisfies Record<StoredName, string>;

type Values<Json> = {
  required_text: string;
  text: string | null;
  address: string | null;
  texts: readonly string[];
  channels: readonly AskingChannel[] | null;
  names: readonly string[] | null;
  flag: boolean | null;
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

/** Additions that weren't given aren't there, so that older requests stay as they were. */
export type SubmittedGiven = Omit<Submitted, AdditionName> & Partial<Pick<Submitted, AdditionName>>;

/** The submitted fields of an object that holds more. */
export function submittedOf(from: Submitted): SubmittedGiven {
  return picked(from, given(from, storedFields)) as SubmittedGiven;
}

/** An addition that reviewers see, as it is drawn: one text, or a list of names. */
export type ShownAddition = ShownAs & { id: string; isList: boolean; texts: readonly string[] };

const shownAdditions = Object.entries<SubmittedField>(submittedFields).flatMap(([name, field]) =>
  field.isShown && "label" in field ? { name, ...field } : [],
);

/** Those that were given, in the table's order. */
export function shownAdditionsOf(from: Partial<Record<string, unknown>>): ShownAddition[] {
  return shownAdditions.flatMap(({ name, label, place, kind }) => {
    const value = (from[name] ?? null) as string | readonly string[] | null;
    if (value === null) return [];
    const texts = typeof value === "string" ? [value] : value;
    return { id: elementIdOf(name), label, place, isList: kind === "names", texts };
  });
}

/** Each field stands on the page in an element with this id, such as `agent-name`. */
export function elementIdOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** What reviewers see. */
export type ShownFields = Omit<Pick<Submitted, ShownName>, AdditionName> &
  Partial<Pick<Submitted, ShownName & AdditionName>>;

/** The fields that reviewers see, of an object that holds more. */
export function shownOf(from: Pick<Submitted, ShownName>): ShownFields {
  return picked(from, given(from, shownFields)) as ShownFields;
}

function given(from: Record<string, unknown>, fields: readonly StoredField[]) {
  return fields.filter(({ name, isAddition }) => !isAddition || from[name] !== null);
}

function picked(from: Record<string, unknown>, fields: readonly StoredField[]) {
  return Object.fromEntries<unknown>(fields.map(({ name }) => [name, from[name]]));
}
