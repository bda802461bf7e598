// The columns of submitted fields: as lists for statements, as rows, and as values of a new row.
// All of it follows from the table of submitted fields.

import { type JsonText, toJsonText } from "../../domain/shown/json-text.ts";
import {
  type AdditionName,
  additions,
  type columnOf,
  type ShownName,
  type StoredField,
  type StoredName,
  type Submitted,
  shownFields,
  storedFields,
} from "../../domain/shown/submitted-fields.ts";

/** As PostgreSQL gives them: a list of texts is its JSON, one of channels or names an array. */
type Columns<Name extends StoredName> = {
  [Each in Name as (typeof columnOf)[Each]]: Submitted[Each] extends readonly string[]
    ? string
    : Submitted[Each];
};
export type SubmittedColumns = Columns<StoredName>;
export type ShownColumns = Columns<ShownName>;

/** JSON may be megabytes, so statements read it with care. */
const isLarge = ({ kind }: StoredField) => kind === "json";
const columnsOf = (fields: readonly StoredField[]) => fields.map(({ column }) => column);

export const submittedColumns = columnsOf(storedFields);
export const typedSubmittedColumns = storedFields.map(
  ({ column, kind }) => [column, typeOf(kind)] as const,
);
export const smallSubmittedColumns = columnsOf(storedFields.filter((field) => !isLarge(field)));
export const largeSubmittedColumns = columnsOf(storedFields.filter(isLarge));
export const smallShownColumns = columnsOf(shownFields.filter((field) => !isLarge(field)));
export const largeShownColumns = columnsOf(shownFields.filter(isLarge));

/** `a.summary, a.payload` */
export function columnList(table: string, names: readonly string[]): string {
  return names.map((name) => `${table}.${name}`).join(", ");
}

/** How many bytes these columns hold together. */
export function bytesOf(table: string, names: readonly string[]): string {
  return names.map((name) => `coalesce(octet_length(${table}.${name}), 0)`).join(" + ");
}

/** The rest is written out where rows are read: that is hot, and a loop would take three times as long. */
export function toAdditions(row: SubmittedColumns): Pick<Submitted<JsonText>, AdditionName> {
  return toValues(row, additions) as Pick<Submitted<JsonText>, AdditionName>;
}

export function toShown(row: ShownColumns): Pick<Submitted<JsonText>, ShownName> {
  return toValues(row, shownFields) as Pick<Submitted<JsonText>, ShownName>;
}

function toValues(row: Record<string, unknown>, fields: readonly StoredField[]) {
  const values: Record<string, unknown> = {};
  for (const { name, column, kind } of fields) {
    const value = row[column];
    values[name] = kind === "texts" ? JSON.parse(value as string) : value;
  }
  return values;
}

function typeOf(kind: StoredField["kind"]): string {
  if (kind === "channels" || kind === "names") return "text[]";
  return kind === "flag" ? "boolean" : "text";
}

export function additionValues(submitted: Submitted<JsonText>): unknown[] {
  return additions.map(({ name, kind }) =>
    kind === "texts" ? toJsonText(submitted[name]) : submitted[name],
  );
}
