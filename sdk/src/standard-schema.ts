// Checks a payload with a Standard Schema (https://standardschema.dev), which zod, valibot, arktype and others are.

/** The part of the standard that is used here. */
export type StandardSchema<Output = unknown> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
};

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

type SchemaIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** The problem with a schema that does more than check. */
export const changed = "its schema makes something else of it than the approver sees.";

/**
 * The payload as the schema reads it, or what is wrong with it. A schema that drops, adds or changes something is
 * wrong, too: a person approved these values and no others.
 */
export async function checkPayload<Output>(
  schema: StandardSchema<Output>,
  payload: unknown,
): Promise<{ value: Output } | { problem: string }> {
  // Copied before, because a schema may change what it is given, and after, because its value may still change.
  const shown = copyOf(payload);
  const checked = await schema["~standard"].validate(payload);
  if (checked.issues !== undefined) return { problem: checked.issues.map(wordsOf).join("; ") };
  const value = copyOf(checked.value);
  return isShownAs(value, shown) ? { value: value as Output } : { problem: changed };
}

/** The plain data in a value, anew: without getters and without what is hidden or inherited. The rest stays as it is. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, copyOf);
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copyOf(each)]));
}

/** Of any realm. Without a prototype it may be a number of `JSON.rawJSON`, which a copy would no longer be. */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) === null;
}

function wordsOf({ message, path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return names.length === 0 ? message : `${names.join(".")}: ${message}`;
}

/** Whether an approver who reads the JSON sees all of the value: plain data, and dates as they are written. */
export function isShownAs(value: unknown, json: unknown): boolean {
  if (value instanceof Date) return value.toJSON() === json;
  if (typeof value !== "object" || value === null) return value === json;
  if (typeof json !== "object" || json === null) return false;
  if (Array.isArray(value) || Array.isArray(json)) {
    return (
      Array.isArray(value) &&
      Array.isArray(json) &&
      value.length === json.length &&
      json.every((each, index) => isShownAs(value[index], each))
    );
  }
  if (Object.getPrototypeOf(value) !== null && !isPlain(value)) return false;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return (
    fields.length === Object.keys(json).length &&
    fields.every(
      ([name, each]) => Object.hasOwn(json, name) && isShownAs(each, json[name as never]),
    )
  );
}
