// The inbox as an app on a phone or a desktop: the manifest that installs it, and its service worker. Neither holds data.

import { hash } from "node:crypto";
import type { PageCalls } from "../dashboard/page.ts";
import type { Answer } from "../frame/call.ts";
import { basePathOf } from "../frame/paths.ts";

export const manifestPath = "/inbox/manifest.webmanifest";
export const serviceWorkerPath = "/inbox/service-worker.js";

/** The grounds of web/src/look/tokens.css. */
export const appColours = { light: "#f9fafc", dark: "#0f131a" };

const versionCharacters = 16;

/** The app spans all pages of the service, because signing in is one of them. */
export function showManifest({ assets, origin }: PageCalls): Answer {
  const basePath = basePathOf(origin.publicUrl);
  const icon = (name: string, sizes: string, purpose: string) => {
    const src = assets.app.icons.get(name);
    return src === undefined
      ? []
      : [{ src: `${basePath}/${src}`, sizes, type: "image/png", purpose }];
  };
  const manifest = {
    id: `${basePath}/inbox`,
    name: "Countersign inbox",
    short_name: "Countersign",
    description: "Requests that wait for your approval.",
    lang: "en",
    start_url: `${basePath}/inbox`,
    scope: `${basePath}/`,
    display: "standalone",
    background_color: appColours.light,
    theme_color: appColours.light,
    icons: [
      ...icon("app-192.png", "192x192", "any"),
      ...icon("app-512.png", "512x512", "any"),
      ...icon("app-maskable-512.png", "512x512", "maskable"),
    ],
  };
  return {
    status: 200,
    headers: { "cache-control": "no-cache" },
    type: "application/manifest+json; charset=utf-8",
    body: JSON.stringify(manifest),
  };
}

/**
 * The worker gets the names of the files that draw the page before its own text. So it differs after each update of the
 * service, and browsers, which compare it at each visit, take the new one.
 */
export function showServiceWorker({ assets, origin }: PageCalls): Answer {
  const basePath = basePathOf(origin.publicUrl);
  const { script, parts, styles, icon } = assets.inbox;
  const { serviceWorker, icons } = assets.app;
  const at = (file: string) => `${basePath}/${file}`;
  const shell = {
    page: `${basePath}/inbox`,
    files: [script, ...parts, ...styles, icon].map(at),
    icon: at(icons.get("app-192.png") ?? icon),
    badge: at(icons.get("app-badge-96.png") ?? icon),
  };
  const version = hash("sha256", JSON.stringify(shell) + serviceWorker.toString()).slice(
    0,
    versionCharacters,
  );
  return {
    status: 200,
    headers: {
      "cache-control": "no-cache",
      // It calls the service and loads nothing else.
      "content-security-policy": "default-src 'none'; connect-src 'self'",
      // The page itself is one level above the worker's own address.
      "service-worker-allowed": shell.page,
    },
    type: "text/javascript; charset=utf-8",
    body: `const shell = ${JSON.stringify({ version, ...shell })};\n${serviceWorker}`,
  };
}
