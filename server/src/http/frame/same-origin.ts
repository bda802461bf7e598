// Whether a call comes from a page of our own, by what only a browser can say of itself: both headers are out of reach
// of scripts, and each alone has been got around before.

import { type Call, repeated } from "./call.ts";

export type Provenance = {
  origin: ReturnType<Call["header"]>;
  /** Sec-Fetch-Site. */
  site: ReturnType<Call["header"]>;
};

export function isSameOrigin({ origin, site }: Provenance, publicUrl: string): boolean {
  if (origin === repeated || site === repeated) return false;
  return origin === originOf(publicUrl) && site === "same-origin";
}

export function originOf(publicUrl: string): string {
  return new URL(publicUrl).origin;
}
