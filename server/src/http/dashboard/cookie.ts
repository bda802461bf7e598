// Writes and reads cookies. Over https their names make browsers refuse them from any other host. Scripts never see
// them, and other sites' calls don't carry them.

import { type Call, repeated } from "../frame/call.ts";

export type Cookie = { name: string; value: string; maxAgeSeconds: number };

export function cookieText(publicUrl: string, { name, value, maxAgeSeconds }: Cookie): string {
  const secure = isSecure(publicUrl) ? "; Secure" : "";
  return `${fullName(publicUrl, name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The cookie's value; null when none came, or more than one. */
export function cookieOf(
  call: Pick<Call, "header">,
  publicUrl: string,
  name: string,
): string | null {
  const header = call.header("cookie");
  if (header === null || header === repeated) return null;
  const prefix = `${fullName(publicUrl, name)}=`;
  const values = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
  return values.length === 1 ? (values[0] ?? null) : null;
}

function fullName(publicUrl: string, name: string): string {
  return isSecure(publicUrl) ? `__Host-${name}` : name;
}

function isSecure(publicUrl: string): boolean {
  return new URL(publicUrl).protocol === "https:";
}
