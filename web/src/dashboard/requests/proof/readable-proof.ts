// What a receipt and a place in the log say, to be shown. Nothing here is checked: `check-proof.ts` does that.

import type { LogPlace } from "../../../../../server/src/wire/dashboard-proof.ts";

export type ReadableReceipt = { kid: string; level: string; validUntil: string };

/** Null if it can't be read. */
export function readReceipt(receipt: string): ReadableReceipt | null {
  try {
    const [header, claims] = receipt.split(".").slice(0, 2).map(partOf);
    const { kid } = header as { kid: unknown };
    const { level, exp } = claims as { level: unknown; exp: unknown };
    const validUntil = new Date(Number(exp) * 1_000).toISOString();
    return { kid: String(kid), level: String(level), validUntil };
  } catch {
    return null;
  }
}

function partOf(part: string): unknown {
  const text = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(
    new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0))),
  );
}

/** By the issuer's own word. */
export function levelWords(level: string): string {
  switch (level) {
    case "operator-signed":
      return "Signed by this service: you rely on its operator";
    case "person-signed":
      return "Signed by each person with a passkey, and by this service";
    default:
      return level;
  }
}

/** A checkpoint may have the request's beginning alone, and be in the installation's log before its decision is. */
export function isDecisionInstalled(log: LogPlace | null | undefined): boolean {
  return log != null && log.proof !== null && log.installation !== null;
}

export type ReadableLogPlace = {
  /** The number of the decision's entry, from 0 on; null if it can't be read. */
  index: number | null;
  size: string;
  /** When the checkpoint came into the installation's log. */
  installedAt: string | null;
  witnesses: string[];
};

export function readLogPlace({ checkpoint, proof, installation }: LogPlace): ReadableLogPlace {
  const [, index] = /^index (\d+)$/m.exec(proof ?? "") ?? [];
  const [, size = ""] = checkpoint.split("\n");
  return {
    index: index === undefined ? null : Number(index),
    size,
    installedAt: installation === null ? null : timeOf(installation.entry),
    witnesses: installation === null ? [] : cosignersOf(installation.proof),
  };
}

function timeOf(entry: string): string | null {
  try {
    const { at } = JSON.parse(entry) as { at: unknown };
    return typeof at === "string" ? at : null;
  } catch {
    return null;
  }
}

/** The names on the signature lines of a note, without the log's own. */
function cosignersOf(proof: string): string[] {
  const note = proof.slice(proof.indexOf("\n\n") + 2);
  const [origin] = note.split("\n");
  const names = [...note.matchAll(/^\u2014 (\S+) /gm)].map(([, name = ""]) => name);
  return [...new Set(names)].filter((name) => name !== origin);
}
