// Parses the query of a dashboard list. A refusal names the first field that is wrong, as forms do.

import { z } from "zod";
import { toCursor } from "../../domain/approval/call-parameters.ts";
import { filterCharactersMax } from "../../domain/limits.ts";
import type { DashboardRefusal, MemberVisit } from "./visit.ts";

/** The parsed query, or a refusal that names the first wrong field. */
export function readQuery<Query>(
  { call }: MemberVisit,
  query: z.ZodType<Query>,
): Query | DashboardRefusal {
  const parsed = query.safeParse(Object.fromEntries(call.query));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") ?? "";
  const message = `${field}: ${issue?.message ?? "is not as it should be"}`;
  return { refusal: "validation_error", message, field };
}

/** Text without characters that PostgreSQL refuses. */
export const filterText = z
  .string()
  .max(filterCharactersMax, `must have at most ${filterCharactersMax} characters`)
  .refine((text) => !text.includes("\0"), "must not contain U+0000");

/** A time with its zone, or a UTC day. */
export const filterTime = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: "must be a time such as 2026-01-31T12:00:00Z",
  })
  .transform((text) => new Date(text));

/** The id inside a cursor. */
export function cursorOf(prefix: string) {
  const pattern = new RegExp(`^${prefix}[0-9a-f]{32}$`);
  return z
    .string()
    .transform((text) => Buffer.from(text, "base64url").toString("latin1"))
    .refine((id) => pattern.test(id), "is not one that a list has answered. Begin anew");
}

/** A page in the contract's shape. */
export function toPage<Found extends { id: string }, Item>(
  found: readonly Found[],
  hasMore: boolean,
  represent: (each: Found) => Item,
): { items: Item[]; nextCursor: string | null } {
  const last = found.at(-1);
  const nextCursor = hasMore && last !== undefined ? toCursor(last.id) : null;
  return { items: found.map(represent), nextCursor };
}
