// Writes a statement whose parts depend on the call, with each of its values bound.

// Statements are made for each call and never prepared: the right index depends on the values.
export type Bind = (value: unknown) => string;

export function statement(write: (bind: Bind) => string): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const text = write((value) => `$${values.push(value)}`);
  return { text, values };
}
