// The headers of our pages. Below /review/ the address itself is a secret that can decide, so nothing of it is kept,
// framed, indexed, passed on or mixed with foreign content. The dashboard is guarded alike.

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
 * Browser features that our pages don't use, so injected code can't use them either. Only names that browsers know: for
 * others they just complain on the console of every page.
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

/** Beside those of a review: its page may ask for a passkey, and may not make one. */
export const signingHeaders: Readonly<Record<string, string>> = {
  "permissions-policy": denied((name) => name !== "publickey-credentials-get"),
};

/** The dashboard's page sets its own policy. Passkeys are made and used here. */
export const dashboardHeaders: Readonly<Record<string, string>> = {
  ...reviewHeaders,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "permissions-policy": denied(
    (name) => !name.startsWith("publickey-credentials-") && name !== "identity-credentials-get",
  ),
};

/** The inbox's page sets its own policy. Decisions are signed here, and passkeys are added in its settings. */
export const inboxHeaders: Readonly<Record<string, string>> = {
  ...reviewHeaders,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "permissions-policy": denied((name) => !name.startsWith("publickey-credentials-")),
};

/** Anybody may read and keep the documentation. Otherwise it is guarded like the other pages. */
export const docsHeaders: Record<string, string> = {
  ...reviewHeaders,
  "cache-control": "public, no-cache",
  "x-robots-tag": "all",
};
