// Hands out the packages for agents, as the build packed them: `npm install <this service>/packages/<file>`. Nobody has
// to look for them in a registry, where these names may be a stranger's.

import type { Assets } from "../frame/assets.ts";
import type { Answer, Call } from "../frame/call.ts";
import { problem } from "../frame/problems.ts";

export type PackageCalls = { assets: Assets; origin: { readonly publicUrl: string } };

/** As the build describes a packed file. */
type Packed = { name: string; version: string; file: string; bytes: number; integrity: string };

const headers = {
  "cache-control": "public, no-cache",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

export function list({ assets, origin }: PackageCalls): Answer {
  const data = packedIn(assets).map(({ file, ...packed }) => ({
    ...packed,
    url: `${origin.publicUrl}/packages/${file}`,
  }));
  return { status: 200, headers, body: JSON.stringify({ data }) };
}

export function show({ assets, origin }: PackageCalls, call: Call): Answer {
  const packed = packedIn(assets).find(({ file }) => file === call.params.file);
  const body = packed && assets.packages.get(packed.file);
  if (packed === undefined || body === undefined) {
    const message = `There is no such package. ${origin.publicUrl}/packages lists those of this version of the service.`;
    return problem("not_found", message);
  }
  const etag = `"${packed.integrity}"`;
  const named = { ...headers, etag };
  if (call.header("if-none-match") === etag) return { status: 304, headers: named, body: null };
  const type = packed.file.endsWith(".mjs") ? "text/javascript" : "application/gzip";
  return { status: 200, headers: named, type, body };
}

/** Parsed at each call, because it is short and seldom asked for. */
function packedIn({ packages }: Assets): Packed[] {
  const index = packages.get("index.json");
  return index === undefined ? [] : JSON.parse(index.toString());
}
