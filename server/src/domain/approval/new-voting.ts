// Reads the fields by which several people decide: how many, in which stages, and who is asked when time passes.

import { escalationsMax, laterStagesMax, quorumMax, ttlMinutesMax } from "../shown/field-limits.ts";
import { flawOfEmailAddress } from "../workspace/email-address.ts";
import { type Notify, parseNotify } from "../workspace/notify.ts";
import { describeType } from "./json-body.ts";

export type NewStage = { notify: Notify; required: number };
export type NewStep = { afterMinutes: number; notify: Notify };
/** What is wrong, and where: `then[0].quorum`. */
export type Flaw = { place: string; flaw: string };

export function readNotify(value: unknown, place: string): Notify | Flaw {
  if (value === null || value === undefined) {
    return { place, flaw: "is required: an e-mail address, or group:<key>" };
  }
  if (typeof value !== "string") {
    return { place, flaw: `must be a string, not ${describeType(value)}` };
  }
  const approver = parseNotify(value);
  return "flaw" in approver ? { place, flaw: approver.flaw } : approver;
}

export function readAddress(value: unknown, place: string): string | null | Flaw {
  if (value === null) return null;
  if (typeof value !== "string") {
    return { place, flaw: `must be a string, not ${describeType(value)}` };
  }
  const flaw = flawOfEmailAddress(value);
  return flaw === null ? value : { place, flaw };
}

export function readQuorum(value: unknown, place: string): number | null | Flaw {
  return value === null || value === undefined
    ? null
    : readWhole(value, place, { what: "people", max: quorumMax });
}

export function readStages(value: unknown, place: string): NewStage[] | Flaw {
  return readItems(value, place, {
    itemsMax: laterStagesMax,
    names: ["notify", "quorum"],
    read: (item, at) => {
      const notify = readNotify(item.notify, `${at}.notify`);
      if ("flaw" in notify) return notify;
      const required = readQuorum(item.quorum, `${at}.quorum`);
      if (typeof required === "object" && required !== null) return required;
      return { notify, required: required ?? 1 };
    },
  });
}

export function readEscalations(value: unknown, place: string): NewStep[] | Flaw {
  return readItems(value, place, {
    itemsMax: escalationsMax,
    names: ["afterMinutes", "notify"],
    read: (item, at) => {
      const { afterMinutes = null } = item;
      const minutes = { what: "minutes", max: ttlMinutesMax };
      const after = readWhole(afterMinutes, `${at}.afterMinutes`, minutes);
      if (typeof after === "object") return after;
      const notify = readNotify(item.notify, `${at}.notify`);
      return "flaw" in notify ? notify : { afterMinutes: after, notify };
    },
  });
}

type Items<Item> = {
  itemsMax: number;
  names: readonly string[];
  read: (item: Record<string, unknown>, at: string) => Item | Flaw;
};

function readItems<Item extends object>(
  value: unknown,
  place: string,
  { itemsMax, names, read }: Items<Item>,
): Item[] | Flaw {
  if (value === null) return [];
  if (!Array.isArray(value)) {
    return { place, flaw: `must be an array of objects, not ${describeType(value)}` };
  }
  if (value.length > itemsMax) {
    return { place, flaw: `must have at most ${itemsMax} items, but has ${value.length}` };
  }
  const items: Item[] = [];
  for (const [index, each] of value.entries()) {
    const at = `${place}[${index}]`;
    if (typeof each !== "object" || each === null || Array.isArray(each)) {
      return { place: at, flaw: `must be an object, not ${describeType(each)}` };
    }
    // A misspelled quorum would ask for fewer people than its writer meant.
    const unknown = Object.keys(each).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      return { place: `${at}.${unknown}`, flaw: `is unknown here; known are ${names.join(", ")}` };
    }
    const item = read(each as Record<string, unknown>, at);
    if ("flaw" in item) return item;
    items.push(item);
  }
  return items;
}

function readWhole(
  value: unknown,
  place: string,
  { what, max }: { what: string; max: number },
): number | Flaw {
  const allowed = `must be a whole number of ${what} from 1 to ${max}`;
  if (typeof value !== "number") return { place, flaw: `${allowed}, not ${describeType(value)}` };
  return Number.isInteger(value) && value >= 1 && value <= max ? value : { place, flaw: allowed };
}
