// The log as a file: JSON Lines that hold everything a verifier needs, without the service; and CSV for people, a row for
// each fact. Texts whose bytes matter are JSON strings, so they survive.

import { csvLine, jsonCell, textCell } from "../approval/export-rows.ts";
import type { JsonText } from "../shown/json-text.ts";

export const logExportVersion = 1;

export type ExportedKey = {
  id: string;
  publicKey: Buffer;
  createdAt: Date;
  retiredAt: Date | null;
  revokedAt: Date | null;
};

export type ExportedEntry = {
  index: number;
  entry: string;
  /** Null once its request was deleted. */
  opening: { salt: Buffer; fact: string } | null;
};

export type ExportedRequest = {
  id: string;
  status: string;
  payload: string | null;
  effective: string | null;
  resolvedAt: Date | null;
  /** Who decided. */
  by: readonly string[];
  receipt: string | null;
  /** False for one from before the log, of which it knows nothing. */
  logged: boolean;
};

export type InstallationEntry = {
  index: number;
  entry: string;
  salt: string;
  fact: string;
  /** A tlog-proof (C2SP). */
  proof: string;
};

export const exportLines = {
  start: (facts: { workspace: string; origin: string | null; size: number; at: Date }) =>
    line("export", { v: logExportVersion, ...facts, at: facts.at.toISOString() }),
  key: ({ id, publicKey, createdAt, retiredAt, revokedAt }: ExportedKey) =>
    line("key", {
      kty: "OKP",
      crv: "Ed25519",
      x: publicKey.toString("base64url"),
      kid: id,
      use: "sig",
      createdAt: createdAt.toISOString(),
      retiredAt: retiredAt?.toISOString() ?? null,
      revokedAt: revokedAt?.toISOString() ?? null,
    }),
  /** `previous` is the origin of the log before it, if there was one. */
  tree: (tree: { origin: string; size: number; previous: string | null }) => line("tree", tree),
  checkpoint: (checkpoint: { origin: string; note: string }) => line("checkpoint", checkpoint),
  tile: (tile: { origin: string; level: number; index: number; hashes: readonly Buffer[] }) =>
    line("tile", { ...tile, hashes: tile.hashes.map((hash) => hash.toString("base64url")) }),
  entry: (origin: string, { index, entry, opening }: ExportedEntry) =>
    line("entry", {
      origin,
      index,
      entry,
      salt: opening?.salt.toString("base64url") ?? null,
      fact: opening?.fact ?? null,
    }),
  request: (request: ExportedRequest) =>
    line("request", { ...request, resolvedAt: request.resolvedAt?.toISOString() ?? null }),
  /** A request that was deleted, of which the exported part of the log doesn't say so yet. */
  deleted: (request: string) => line("deleted", { request }),
  installation: (installation: { checkpoint: string; entries: readonly InstallationEntry[] }) =>
    line("installation", installation),
  /** A checkpoint of the workspace in the installation's log. */
  installed: (log: string, entry: Omit<InstallationEntry, "proof">) =>
    line("installed", { log, ...entry }),
  /** An entry of the installation's log, as anybody may read it. */
  publicEntry: (origin: string, index: number, entry: string) =>
    line("entry", { origin, index, entry }),
  /** The last line: a file without it was cut off. `later` counts requests that changed since the newest checkpoint. */
  end: (counts: { entries: number; requests: number; later: number }) => line("end", counts),
};

function line(type: string, facts: object): string {
  return `${JSON.stringify({ type, ...facts })}\n`;
}

/** Excel takes a file for UTF-8 only if it begins so. */
export const factsCsvStart = `\ufeff${csvLine(["log", "index", "at", "kind", "request", "who", "fact"])}`;

export function factCsvLine(origin: string, { index, entry, opening }: ExportedEntry): string {
  const { kind = "", at = "", request = "" } = JSON.parse(entry) as Record<string, string>;
  const fact = opening?.fact ?? null;
  return csvLine([
    textCell(origin),
    String(index),
    at,
    textCell(kind),
    textCell(request),
    textCell(fact === null ? "(deleted)" : whoIn(fact)),
    jsonCell(fact as JsonText | null),
  ]);
}

/** The person of a fact: who decided, voted, opened or changed something. */
function whoIn(text: string): string {
  const fact = JSON.parse(text) as Record<string, unknown>;
  const { by, email, actor, votes } = fact;
  if (typeof by === "string") return by;
  if (typeof email === "string") return email;
  if (typeof actor === "string") return actor;
  const emails = Array.isArray(votes) ? votes.map((vote) => String(vote?.email ?? "")) : [];
  return emails.join(" ");
}
