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

/**
 * The payload as the schema reads it, or what is wrong with it. A schema that drops, adds or changes something is
 * wrong, too: a person approved these values and no others.
 */
export async function checkPayload<Output>(
  schema: StandardSchema<Output>,
  payload: unknown,
): Promise<{ value: Output } | { problem: string }> {
  const checked = await schema["~standard"].validate(payload);
  if (checked.issues !== undefined) return { problem: checked.issues.map(wordsOf).join("; ") };
  const written: unknown = JSON.parse(JSON.stringify(checked.value) ?? "null");
  return isSame(written, payload)
    ? { value: checked.value }
    : { problem: "the schema makes something else of it than the approver reads" };
}

function wordsOf({ message, path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return names.length === 0 ? message : `${names.join(".")}: ${message}`;
}

/** Whether two JSON values are the same, in whatever order their keys are. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return one === other;
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) => Object.hasOwn(other, name) && isSame(one[name as never], other[name as never]),
    )
  );
}
