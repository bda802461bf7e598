// The HTML around the inbox. It holds no data: the page asks for that, or leads to the sign-in.

import { escapeHtml } from "../../domain/mail/html-text.ts";
import { bootHtml, type PageCalls } from "../dashboard/page.ts";
import type { Answer } from "../frame/call.ts";
import { basePathOf } from "../frame/paths.ts";
import { appColours, manifestPath } from "./app.ts";

/** It installs as an app, and its service worker shows push messages. */
const sources = ["manifest-src 'self'", "worker-src 'self'"];

export function inboxHtml(calls: PageCalls): Answer {
  return bootHtml(calls, {
    files: calls.assets.inbox,
    title: "Inbox · Countersign",
    loading: "Loading your inbox …",
    withoutScript:
      "The inbox needs JavaScript. Allow it for this address, or open the links in your mails.",
    head: appHead(calls),
    sources,
  });
}

/** What makes a browser offer to install it. Apple's take their icon from here. */
function appHead({ assets, origin }: PageCalls): string {
  const basePath = basePathOf(origin.publicUrl);
  const at = (path: string) => escapeHtml(`${basePath}/${path}`);
  const touchIcon = assets.app.icons.get("app-touch-180.png");
  const { light, dark } = appColours;
  return `<link rel="manifest" href="${escapeHtml(basePath + manifestPath)}">
<meta name="theme-color" content="${light}" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="${dark}" media="(prefers-color-scheme: dark)">
<meta name="apple-mobile-web-app-title" content="Countersign">
${touchIcon === undefined ? "" : `<link rel="apple-touch-icon" href="${at(touchIcon)}">\n`}`;
}
