// The fields of a request in the OpenAPI document, as they are submitted and as they are answered. Both follow from the
// table of submitted fields.

import {
  emailCharactersMax,
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

const optional = new Set<string>(additions.map(({ name }) => name));

/** All but those that are answered only where they were given. */
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

function answered({ kind, isAddition }: StoredField): object {
  const description = isAddition ? "As submitted; absent when none was." : "As submitted.";
  switch (kind) {
    case "required_text":
      return { type: "string", description };
    case "text":
      return isAddition ? { type: "string", description } : nullable("string", description);
    case "texts":
      return { type: "array", items: { type: "string" }, description };
    case "json":
      return opaque(isAddition ? description : "As submitted; null when none was.");
    default:
      return kind satisfies never;
  }
}
