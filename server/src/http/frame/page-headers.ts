// What every answer to a page of ours carries. Below /review/ the address is a secret and a power, so nothing of it is
// kept, framed, indexed, passed on or mixed with anything that is not ours. The dashboard is guarded alike.

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/**
 * Powers that no page of ours has any use for, and so nothing that slipped into it may have either. Only names that
 * browsers know: for others they do nothing but complain on the console of every page.
 */
const deniedPowers =
  "accelerometer autoplay browsing-topics camera display-capture encrypted-media fullscreen geolocation gyroscope hid identity-credentials-get idle-detection local-fonts magnetometer microphone midi payment picture-in-picture publickey-credentials-create publickey-credentials-get screen-wake-lock serial usb xr-spatial-tracking";

function denied(isDenied: (name: string) => boolean): string {
  const names = deniedPowers.split(" ").filter(isDenied);
  return names.map((name) => `${name}=()`).join(", ");
}

export const reviewHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "x-robots-tag": "noindex, nofollow",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": denied(() => true),
};

/** Its page names its own policy. Passkeys are made and used here. */
export const dashboardHeaders: Readonly<Record<string, string>> = {
  ...reviewHeaders,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "permissions-policy": denied(
    (name) => !name.startsWith("publickey-credentials-") && name !== "identity-credentials-get",
  ),
};

/** The documentation is everybody's to read and to keep, and as guarded otherwise. */
export const docsHeaders: Record<string, string> = {
  ...reviewHeaders,
  "cache-control": "public, no-cache",
  "x-robots-tag": "all",
};

/**
 * The reference's renderer makes styles as it draws, and has a font within itself. It makes HTML too, which a rule in our
 * own script lets it.
 */
export function referencePolicy(nonce: string): string {
  return contentSecurityPolicy
    .replace("style-src 'self'", `style-src 'self' 'nonce-${nonce}'`)
    .concat("; font-src data:; trusted-types default");
}
