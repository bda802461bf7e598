// Reads the members of an object that must have a certain shape. Whoever reads a proof demands the shape first, so that
// no missing or strange member is ever taken for a value.

import { fromBase64Url } from "./bytes.ts";
import { Digits, type ExactObject, type ExactValue, parseExact } from "./exact-json.ts";

/** The text isn't of the shape that it must have. `message` says where. */
export class ShapeError extends Error {}

export function readObject(text: string | null, what: string): ExactObject {
  const value = text === null ? undefined : parseExact(text);
  if (!(value instanceof Map)) throw new ShapeError(`${what} is no unambiguous JSON object`);
  return value;
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A time in the one spelling whose order as text is that of time. `Date.parse` reads many others. */
export function isTime(text: string): boolean {
  return timePattern.test(text);
}

export function textAt(object: ExactObject, name: string): string {
  const value = object.get(name);
  return typeof value === "string" ? value : missing(name, "a text");
}

export function optionalTextAt(object: ExactObject, name: string): string | undefined {
  return object.has(name) ? textAt(object, name) : undefined;
}

export function nullableTextAt(object: ExactObject, name: string): string | null {
  return object.get(name) === null ? null : textAt(object, name);
}

export function booleanAt(object: ExactObject, name: string): boolean {
  const value = object.get(name);
  return typeof value === "boolean" ? value : missing(name, "true or false");
}

export function wholeAt(object: ExactObject, name: string): number {
  return wholeOf(object.get(name)) ?? missing(name, "a whole number");
}

export function wholesAt(object: ExactObject, name: string): number[] {
  return listAt(object, name).map((value) => wholeOf(value) ?? missing(name, "whole numbers"));
}

export function textsAt(object: ExactObject, name: string): string[] {
  return listAt(object, name).map((value) =>
    typeof value === "string" ? value : missing(name, "texts"),
  );
}

export function listAt(object: ExactObject, name: string): ExactValue[] {
  const value = object.get(name);
  return Array.isArray(value) ? value : missing(name, "a list");
}

export function objectAt(object: ExactObject, name: string): ExactObject {
  const value = object.get(name);
  return value instanceof Map ? value : missing(name, "an object");
}

export function nullableObjectAt(object: ExactObject, name: string): ExactObject | null {
  return object.get(name) === null ? null : objectAt(object, name);
}

export function optionalObjectAt(object: ExactObject, name: string): ExactObject | undefined {
  return object.has(name) ? objectAt(object, name) : undefined;
}

/** SHA-256 in base64url. */
export function digestAt(object: ExactObject, name: string): string {
  const text = textAt(object, name);
  return fromBase64Url(text)?.length === 32 ? text : missing(name, "a SHA-256 in base64url");
}

export function nullableDigestAt(object: ExactObject, name: string): string | null {
  return object.get(name) === null ? null : digestAt(object, name);
}

export function bytesAt(object: ExactObject, name: string): Uint8Array<ArrayBuffer> {
  return fromBase64Url(textAt(object, name)) ?? missing(name, "base64url");
}

function wholeOf(value: ExactValue | undefined): number | null {
  if (!(value instanceof Digits) || !/^(?:0|[1-9]\d{0,14})$/.test(value.text)) return null;
  return Number(value.text);
}

function missing(name: string, what: string): never {
  throw new ShapeError(`${name} must be ${what}`);
}
