// Whether this browser can show push messages, and what keeps it from it.

export type PushSupport = "unsupported" | "install_first" | "denied" | "ready";

export type BrowserFacts = {
  hasPush: boolean;
  permission: "default" | "denied" | "granted" | null;
  /** Only Apple's browsers for phones and tablets say whether they show an installed app. */
  isInstalled: boolean | null;
};

export function pushSupport({ hasPush, permission, isInstalled }: BrowserFacts): PushSupport {
  if (isInstalled === false && !hasPush) return "install_first";
  if (!hasPush || permission === null) return "unsupported";
  return permission === "denied" ? "denied" : "ready";
}

/** A key in base64url, as browsers take it. */
export function keyBytes(base64url: string): Uint8Array<ArrayBuffer> {
  const base64 = base64url.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export function isSameKey(key: ArrayBuffer | null, base64url: string): boolean {
  if (key === null) return false;
  const [given, wanted] = [new Uint8Array(key), keyBytes(base64url)];
  return given.length === wanted.length && given.every((byte, at) => byte === wanted[at]);
}
